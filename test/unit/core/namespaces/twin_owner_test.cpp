// The owner reference of what a consumer writes into a twin.
#include "core/namespaces/twin_owner.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace testing;

constexpr std::string_view name = "shop-rome";

std::string owner(std::string_view uid, std::string_view kind = "Namespace", std::string_view of = name) {
  return R"({"apiVersion":"v1","kind":")" + std::string(kind) + R"(","name":")" + std::string(of) + R"(","uid":")" +
         std::string(uid) + R"("})";
}

kube::Object owned_by_all(const std::string& owners) {
  return parse(R"({"metadata": {"name": "words", "ownerReferences": [)" + owners + "]}}");
}

kube::OwnerReference present() {
  return {.api_version = "v1", .kind = "Namespace", .name = std::string(name), .uid = "n2"};
}

}  // namespace

TEST_CASE("a twin is named as the owner if its provider checks owners, and by nothing that would need a right") {
  const auto of = [](std::string_view checks, std::string_view uid, bool deleting = false) {
    kube::Object twin =
        parse(R"({"metadata": {"name": "shop-rome", "uid": ")" + std::string(uid) +
              R"(", "annotations": {"offloading.liqo.io/checks-owners": ")" + std::string(checks) + R"("}}})");
    if (deleting) twin.mutable_metadata()["deletionTimestamp"] = "2026-11-30T09:00:00Z";
    return twin_owner(twin);
  };
  const auto made = of("true", "n2");
  REQUIRE(made);
  kube::Object object = parse(R"({"metadata": {"name": "words"}})");
  object.add_owner_reference(*made);
  CHECK(kube::json::serialize(object.metadata().at("ownerReferences")) == "[" + owner("n2") + "]");
  CHECK_FALSE(of("false", "n2"));
  CHECK_FALSE(of("", "n2"));
  CHECK_FALSE(of("true", "n2", true));
  CHECK_FALSE(of("true", ""));
  CHECK_FALSE(of("true", std::string(65, 'n')));
  CHECK_FALSE(twin_owner(parse(R"({"metadata": {"name": "shop-rome", "uid": "n2"}})")));
}

TEST_CASE("a former twin is no owner any more, and owners of others stay") {
  struct Row {
    std::string_view title;
    std::string owners;
    bool is_former;
    std::string wanted;  ///< "" = they stay as they are
  };
  const std::string theirs = owner("c1", "ConfigMap");
  const Row rows[] = {
      {"none", "", false, owner("n2")},
      {"the present one", owner("n2"), false, ""},
      {"a former one", owner("n1"), true, owner("n2")},
      {"both", owner("n1") + "," + owner("n2"), true, owner("n2")},
      {"somebody's", theirs, false, theirs + "," + owner("n2")},
      {"a former one and somebody's", theirs + "," + owner("n1"), true, theirs + "," + owner("n2")},
      {"another namespace", owner("n9", "Namespace", "other"), false,
       owner("n9", "Namespace", "other") + "," + owner("n2")},
  };
  for (const Row& row : rows) {
    CAPTURE(row.title);
    const kube::Object object = owned_by_all(row.owners);
    CHECK(names_former_twin(object, present()) == row.is_former);
    const auto made = owners_with(object, present());
    CHECK((made ? kube::json::serialize(*made) : "") == (row.wanted.empty() ? "" : "[" + row.wanted + "]"));
  }
}

TEST_CASE("a failure says whether it is about the owner") {
  const auto failed = [](int code, std::string message) {
    kube::Status status;
    status.code = code;
    status.message = std::move(message);
    return doubt_owner(kube::Failure::from_status(std::move(status)));
  };
  CHECK(failed(403, "denied the request: the metadata.ownerReferences of configmaps words name ...") ==
        OwnerDoubt::refused);
  CHECK(
      failed(403, "is forbidden: unable to create new content in namespace shop-rome because it is being terminated") ==
      OwnerDoubt::gone);
  CHECK(failed(404, "namespaces \"shop-rome\" not found") == OwnerDoubt::gone);
  CHECK(failed(403, "no right") == OwnerDoubt::none);
  CHECK(failed(500, "ownerReferences") == OwnerDoubt::none);
  CHECK(failed(409, "ownerReferences") == OwnerDoubt::none);
  CHECK(doubt_owner({kube::Errc::timeout, "ownerReferences"}) == OwnerDoubt::none);
}

}  // namespace liqo::core
