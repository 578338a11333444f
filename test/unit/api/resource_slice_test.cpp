// ResourceSlices and Quotas read and changed, good and broken ones.
#include "liqo/api/resource_slice.hpp"

#include <doctest/doctest.h>

#include "liqo/api/quota.hpp"

namespace liqo::api {
namespace {

kube::Object parse(std::string_view text) {
  auto parsed = kube::Object::parse(text);
  REQUIRE(parsed.has_value());
  return std::move(*parsed);
}
kube::WallTime at(int seconds) { return *kube::parse_time("2026-11-21T10:00:00Z") + std::chrono::seconds(seconds); }

}  // namespace

TEST_CASE("a ResourceSlice is read, whatever its fields are") {
  const auto object = parse(R"({"metadata": {"name": "pool"}, "spec": {"class": "", "consumerClusterID": "rome",
    "providerClusterID": "milan", "resources": {"cpu": "4"}, "csr": "Q1NS"}, "status": {"resources": {"cpu": "8"},
    "conditions": [7, {"type": "Resources", "status": "Accepted", "reason": "R", "message": "M"}]}})");
  const ResourceSlice slice(object);
  CHECK(slice.slice_class() == "default");
  CHECK(slice.consumer() == "rome");
  CHECK(slice.provider() == "milan");
  CHECK(slice.csr() == "Q1NS");
  CHECK(slice.requested().contains("cpu"));
  CHECK(slice.granted().at("cpu") == "8");
  CHECK(slice.is_accepted("Resources"));
  CHECK_FALSE(slice.is_denied("Resources"));
  CHECK_FALSE(slice.is_accepted("Authentication"));
  CHECK(slice.condition("Resources")->message == "M");
  const auto broken = parse(R"({"metadata": {"name": "pool"}, "spec": 1, "status": {"conditions": {}}})");
  CHECK(ResourceSlice(broken).slice_class() == "default");
  CHECK(ResourceSlice(broken).requested().empty());
  CHECK_FALSE(ResourceSlice(broken).condition("Resources").has_value());
}

TEST_CASE("whose a slice is follows from its labels") {
  for (const auto& [labels, replica, local] :
       {std::tuple{"{}", false, false},
        {R"({"liqo.io/remote-cluster-id": "milan"})", false, true},
        {R"({"liqo.io/remote-cluster-id": "milan", "liqo.io/replication": "true", "liqo.io/remoteID": "milan"})", false,
         true},
        {R"({"liqo.io/remote-cluster-id": "rome", "liqo.io/replicated": "true", "liqo.io/originID": "rome"})", true,
         false},
        {R"({"liqo.io/remote-cluster-id": "rome", "liqo.io/originID": "rome"})", false, false}}) {
    CAPTURE(labels);
    const auto object = parse(R"({"metadata": {"name": "pool", "labels": )" + std::string(labels) + "}}");
    CHECK(ResourceSlice(object).is_replica() == replica);
    CHECK(ResourceSlice(object).is_local() == local);
  }
}

TEST_CASE("a condition of a slice is set once, and its time follows every change") {
  auto object = parse(R"({"metadata": {"name": "pool"}, "status": {"conditions": [
    {"type": "Authentication", "status": "Accepted"}, {"type": "Resources", "status": "Denied"},
    {"type": "Resources", "status": "Accepted"}, "odd"]}})");
  const kube::Condition wanted{.type = "Resources", .status = "Denied", .reason = "R", .message = "M"};
  const auto first = with_slice_condition(object, wanted, at(0));
  REQUIRE(first.has_value());
  CHECK(first->size() == 2);
  object.mutable_status()["conditions"] = *first;
  CHECK_FALSE(with_slice_condition(object, wanted, at(5)).has_value());
  kube::Condition other = wanted;
  other.message = "N";
  const auto second = with_slice_condition(object, other, at(5));
  REQUIRE(second.has_value());
  CHECK(kube::string_at(second->at(1), {"lastTransitionTime"}) == "2026-11-21T10:00:05Z");
  const auto without = without_slice_condition(object, "Resources");
  REQUIRE(without.has_value());
  CHECK(without->size() == 1);
  object.mutable_status()["conditions"] = *without;
  CHECK_FALSE(without_slice_condition(object, "Resources").has_value());
}

TEST_CASE("a Quota is read, whatever its fields are") {
  const auto object = parse(R"({"metadata": {"name": "q"}, "spec": {"user": "u", "limitsEnforcement": "Hard",
    "cordoned": true, "resources": {"cpu": "1"}}})");
  CHECK(Quota(object).user() == "u");
  CHECK(Quota(object).enforcement() == "Hard");
  CHECK(Quota(object).is_cordoned());
  CHECK(Quota(object).resources().contains("cpu"));
  const auto broken = parse(R"({"metadata": {"name": "q"}, "spec": {"user": 1, "cordoned": "true"}})");
  CHECK(Quota(broken).user().empty());
  CHECK_FALSE(Quota(broken).is_cordoned());
}

}  // namespace liqo::api
