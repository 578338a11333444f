// Which owners an object of a consumer may name in its twins.
#include "core/admission/owners.hpp"

#include <doctest/doctest.h>

#include "reviews.hpp"

namespace liqo::core::admission {
namespace {

using test::creating;
using test::object_of;
using test::updating;

std::string config_map(std::string_view owners) {
  return R"({"metadata": {"name": "words", "namespace": "shop-rome", "ownerReferences": [)" + std::string(owners) +
         "]}}";
}

constexpr std::string_view own = R"({"apiVersion": "v1", "kind": "Namespace", "name": "shop-rome", "uid": "n2"})";
constexpr std::string_view former = R"({"apiVersion": "v1", "kind": "Namespace", "name": "shop-rome", "uid": "n1"})";
constexpr std::string_view foreign =
    R"({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "theirs", "uid": "r1"})";

kube::Object live(bool deleting = false) {
  kube::Object ns = object_of(R"({"metadata": {"name": "shop-rome", "uid": "n2"}})");
  if (deleting) ns.mutable_metadata()["deletionTimestamp"] = "2026-11-30T09:00:00Z";
  return ns;
}

}  // namespace

TEST_CASE("an object of a consumer has its own namespace as its owner, by its present UID, or none") {
  struct Row {
    std::string_view title, owners;
    bool passes;
  };
  const Row rows[] = {
      {"none", "", true},
      {"its namespace", own, true},
      {"a namespace of that name that is gone", former, false},
      {"both", R"({"apiVersion": "v1", "kind": "Namespace", "name": "shop-rome", "uid": "n2"},
                  {"apiVersion": "v1", "kind": "Namespace", "name": "shop-rome", "uid": "n1"})",
       false},
      {"another namespace", R"({"apiVersion": "v1", "kind": "Namespace", "name": "default", "uid": "n2"})", false},
      {"another kind with that UID", R"({"apiVersion": "v1", "kind": "ConfigMap", "name": "shop-rome", "uid": "n2"})",
       false},
      {"the provider's", foreign, false},
      {"without a UID", R"({"apiVersion": "v1", "kind": "Namespace", "name": "shop-rome"})", false},
      {"as its controller",
       R"({"apiVersion": "v1", "kind": "Namespace", "name": "shop-rome", "uid": "n2", "controller": true})", false},
      {"that waits for it",
       R"({"apiVersion": "v1", "kind": "Namespace", "name": "shop-rome", "uid": "n2", "blockOwnerDeletion": true})",
       false},
      {"with both switched off",
       R"({"apiVersion": "v1", "kind": "Namespace", "name": "shop-rome", "uid": "n2", "controller": false,
           "blockOwnerDeletion": false})",
       true},
      {"no object", R"("x")", false},
  };
  const kube::Object ns = live();
  for (const Row& row : rows) {
    CAPTURE(row.title);
    const Request create = creating(config_map(row.owners), "pool-1f", {"rome"});
    const Answer answer = check_owners(create, "rome", &ns);
    CHECK(answer.allowed == row.passes);
    if (!row.passes) CHECK(answer.message.contains("metadata.ownerReferences"));
    CHECK(check_owners(updating(config_map(""), config_map(row.owners), "pool-1f", {"rome"}), "rome", &ns).allowed ==
          row.passes);
    // What is stored already stays, whatever it is, and others than the consumer may do as they like.
    CHECK(check_owners(updating(config_map(row.owners), config_map(row.owners), "pool-1f", {"rome"}), "rome", &ns)
              .allowed);
    CHECK(check_owners(creating(config_map(row.owners), "system:admin", {"system:masters"}), "rome", &ns).allowed);
  }
}

TEST_CASE("a namespace that is gone or going is nobody's owner") {
  const Request create = creating(config_map(own), "pool-1f", {"rome"});
  const kube::Object going = live(true);
  CHECK_FALSE(check_owners(create, "rome", &going).allowed);
  CHECK_FALSE(check_owners(create, "rome", nullptr).allowed);
}

TEST_CASE("the namespace is read only for what adds an owner") {
  CHECK(adds_owner(creating(config_map(own), "pool-1f", {"rome"}), "rome"));
  CHECK(adds_owner(updating(config_map(former), config_map(own), "pool-1f", {"rome"}), "rome"));
  CHECK_FALSE(adds_owner(creating(config_map(""), "pool-1f", {"rome"}), "rome"));
  CHECK_FALSE(adds_owner(updating(config_map(own), config_map(own), "pool-1f", {"rome"}), "rome"));
  CHECK_FALSE(adds_owner(updating(config_map(own), config_map(""), "pool-1f", {"rome"}), "rome"));
  CHECK_FALSE(adds_owner(creating(config_map(own), "admin"), "rome"));
  CHECK_FALSE(adds_owner(creating(config_map(own), "pool-1f", {"rome"}), "turin"));
}

}  // namespace liqo::core::admission
