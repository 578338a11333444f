// How much a consumer may write into one object of its tenant namespace, and what does not count.
#include "core/admission/written_size.hpp"

#include <doctest/doctest.h>

#include "core/admission/tenant_rules.hpp"
#include "liqo/api/kinds.hpp"
#include "reviews.hpp"

namespace liqo::core::admission {
namespace {

using test::object_of;

constexpr std::string_view bare = R"({"metadata":{"name":"s","labels":{"liqo.io/replicated":"true",
    "liqo.io/replication":"false","liqo.io/originID":"rome","liqo.io/remote-cluster-id":"rome"}},"spec":{}})";

/// What a consumer writes with so many bytes in one place: "csr" of the spec, or a part of the metadata.
kube::Object with(std::string_view place, std::size_t bytes) {
  kube::Object made = object_of(bare);
  const std::string text(bytes, 'x');
  if (place == "csr" || place == "class") {
    made.mutable_spec()[place] = text;
  } else if (place == "status") {
    made.tree()["status"] = json::object{{"message", text}};
  } else if (place == "managedFields" || place == "ownerReferences") {
    made.mutable_metadata()[place] = json::array{json::object{{"manager", text}}};
  } else {
    kube::ensure_object(made.mutable_metadata(), place)["note"] = text;
  }
  return made;
}

Request asks(std::string_view plural, kube::Object object, kube::Object before = {}) {
  Request request;
  request.operation = before.tree().empty() ? Operation::create : Operation::update;
  request.plural = plural;
  request.name = "s";
  request.ns = "liqo-tenant-rome";
  request.user = {.name = "rome", .groups = {"liqo.io"}};
  request.object = std::move(object);
  request.old_object = std::move(before);
  return request;
}

constexpr std::string_view slices = "resourceslices", maps = "namespacemaps", renews = "renews";
constexpr std::size_t kib = 1024;

}  // namespace

TEST_CASE("what a consumer may write into its tenant namespace is bounded, on CREATE and on UPDATE") {
  struct Row {
    std::string_view title;
    Request request;
    bool passes;
  };
  Request of_admin = asks(slices, with("csr", 100 * kib));
  of_admin.user = {.name = "admin", .groups = {"system:masters"}};
  for (const Row& row : {
           Row{"a slice", asks(slices, with("csr", 31 * kib)), true},
           Row{"a large slice", asks(slices, with("csr", 100 * kib)), false},
           Row{"a large slice by its class", asks(slices, with("class", 100 * kib)), false},
           Row{"a large slice by its labels", asks(slices, with("labels", 100 * kib)), false},
           Row{"a large slice by its annotations", asks(slices, with("annotations", 100 * kib)), false},
           Row{"a large slice by its owners", asks(slices, with("ownerReferences", 100 * kib)), false},
           Row{"what the server notes", asks(slices, with("managedFields", 100 * kib)), true},
           Row{"what the provider answers", asks(slices, with("status", 100 * kib)), true},
           Row{"a Renew", asks(renews, with("csr", 31 * kib)), true},
           Row{"a large Renew", asks(renews, with("csr", 33 * kib)), false},
           Row{"a map", asks(maps, with("class", 511 * kib)), true},
           Row{"a large map", asks(maps, with("class", 513 * kib)), false},
           Row{"a slice that grows", asks(slices, with("csr", 33 * kib), with("csr", kib)), false},
           Row{"a large slice that grows", asks(slices, with("csr", 101 * kib), with("csr", 100 * kib)), false},
           Row{"a large slice that stays", asks(slices, with("csr", 100 * kib), with("csr", 100 * kib)), true},
           Row{"a large slice that shrinks", asks(slices, with("csr", 50 * kib), with("csr", 100 * kib)), true},
           Row{"somebody else's", of_admin, true},
       }) {
    CAPTURE(row.title);
    const Answer answer = check_replica(row.request);
    CHECK(answer.allowed == row.passes);
    if (!row.passes) CHECK(answer.message.contains("a consumer may write "));
  }
  CHECK(check_replica(asks(slices, with("csr", 100'000))).message ==
        "the labels, annotations and spec of resourceslices \"s\" have 100130 bytes, and a consumer may write 32768 of "
        "them: make the consumer's own object smaller");
}

TEST_CASE("of what an earlier version has stored, caches keep what decides") {
  const auto cut = [](kube::Object object, std::string_view kind = "ResourceSlice") {
    object.tree()["kind"] = kind;
    cut_large_replica(object.tree());
    return object;
  };
  kube::Object small = with("csr", 20 * kib);
  small.tree()["kind"] = "ResourceSlice";
  CHECK(cut(small).tree() == small.tree());
  kube::Object large = with("csr", 1'400 * kib);
  large.mutable_spec()["class"] = std::string(kib * kib, 'x');
  large.mutable_spec()["resources"] = json::object();
  for (int i = 0; i < 1'000; ++i) large.mutable_spec()["resources"].as_object()["r" + std::to_string(i)] = "1";
  large.mutable_metadata()["labels"].as_object()["liqo.io/more"] = std::string(kib * kib, 'x');
  large.mutable_metadata()["annotations"] =
      json::object{{"liqo.io/cordon", "true"}, {"note", std::string(200 * kib, 'x')}};
  large.tree()["status"] = json::object{{"conditions", json::array()}};
  const kube::Object kept = cut(large);
  CHECK(kept.text().size() < 5 * kib);
  CHECK(kept.label("liqo.io/originID") == "rome");
  CHECK(kept.annotation("liqo.io/cordon") == "true");
  CHECK(kube::object_at(kept.spec(), {"resources"}).size() == 65);
  CHECK(kube::string_at(kept.spec(), {"csr"}).size() == kib);
  CHECK(kept.tree().contains("status"));
  // This cluster's own objects are replicated as they are.
  kube::Object own = large;
  own.mutable_metadata()["labels"] = json::object();
  own.tree()["kind"] = "ResourceSlice";
  CHECK(cut(own).tree() == own.tree());
  // Each entry of a map is a namespace with pods.
  kube::Object map = with("annotations", 200 * kib);
  kube::ensure_object(map.mutable_spec(), "desiredMapping")["shop"] = std::string(400 * kib, 'x');
  CHECK(cut(map, "NamespaceMap").spec() == map.spec());
  CHECK(cut(map, "NamespaceMap").annotation("note").empty());
}

TEST_CASE("what a peering user writes into its Tenant is bounded, too") {
  const auto tenant = [](std::size_t bytes) {
    return object_of(R"({"metadata":{"name":"rome"},"spec":{"clusterID":"rome","csr":")" + std::string(bytes, 'x') +
                     "\"}}");
  };
  CHECK(check_tenant_writer(asks("tenants", tenant(10 * kib))).allowed);
  CHECK_FALSE(check_tenant_writer(asks("tenants", tenant(40 * kib))).allowed);
  CHECK(check_tenant_writer(asks("tenants", tenant(40 * kib), tenant(40 * kib))).allowed);
}

}  // namespace liqo::core::admission
