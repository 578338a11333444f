#include "model/tenant/closings.hpp"

#include <doctest/doctest.h>

#include "kube/base/json.hpp"
#include "liqo/api/kinds.hpp"
#include "model/get/listing.hpp"

using namespace liqoctl::model;
namespace json = kube::json;

namespace {

kube::Object slice(std::string_view name, std::string_view peer, bool lent, std::string_view conditions,
                   std::string_view marks = "{}") {
  kube::Object out(json::parse(R"({"metadata":{"namespace":"t","annotations":)" + std::string(marks) +
                               R"(},"status":{"resources":{"cpu":"2"},"conditions":[)" + std::string(conditions) +
                               "]}}")
                       .as_object());
  out.mutable_metadata()["name"] = name;
  out.set_label("liqo.io/remote-cluster-id", peer);
  if (lent) out.set_label("liqo.io/replicated", "true");
  return out;
}

std::string resources(std::string_view status, std::string_view reason, std::string_view message = "") {
  return R"({"type":"Authentication","status":"Accepted"},{"type":"Resources","status":")" + std::string(status) +
         R"(","reason":")" + std::string(reason) + R"(","message":")" + std::string(message) + R"("})";
}

kube::Object tenant(std::string_view name, std::string_view condition) {
  return kube::Object(json::object{{"metadata", json::object{{"name", name}}},
                                   {"spec", json::object{{"clusterID", name}, {"tenantCondition", condition}}}});
}

}  // namespace

TEST_CASE("cordoned and drained are told from accepted, denied and pending, on both sides") {
  struct Row {
    std::string conditions;
    std::string_view marks, state_taken, state_lent;
  };
  const Row rows[] = {
      {resources("Accepted", "ResourceSliceResourcesAccepted"), "{}", "Accepted", "Accepted"},
      {resources("Accepted", "ResourceSliceCordoned"), "{}", "Cordoned", "Cordoned"},
      {resources("Denied", "TenantCordoned"), "{}", "Cordoned", "Cordoned"},
      {resources("Denied", "TenantDrained"), "{}", "Drained", "Drained"},
      {resources("Denied", "ResourceSliceResourcesDenied", "the provider has drained this cluster: it grants nothing"),
       "{}", "Drained", "Drained"},
      {resources("Denied", "ResourceSliceResourcesDenied",
                 "the provider has cordoned this cluster or this slice: it grants nothing new"),
       "{}", "Cordoned", "Cordoned"},
      {resources("Denied", "ResourceSliceResourcesDenied", "no"), "{}", "Denied", "Denied"},
      {resources("Denied", "RequestDenied", "no more than 3"), "{}", "Denied", "Denied"},
      {R"({"type":"Authentication","status":"Accepted"})", "{}", "Pending", "Pending"},
      {"", "{}", "Pending", "Pending"},
      // The marks are the provider's. On a slice of ours they mean nothing.
      {resources("Accepted", "Custom"), R"({"liqo.io/cordon":"true"})", "Accepted", "Cordoned"},
      {resources("Accepted", "Custom"), R"({"liqo.io/drain":"true"})", "Accepted", "Drained"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.conditions);
    CHECK(state_of_slice(slice("a", "milan", false, row.conditions, row.marks)) == row.state_taken);
    CHECK(state_of_slice(slice("a", "milan", true, row.conditions, row.marks)) == row.state_lent);
  }
}

TEST_CASE("what is closed between two clusters is said by whom, and how it ends") {
  const std::string cordoned = resources("Accepted", "ResourceSliceCordoned"),
                    fine = resources("Accepted", "ResourceSliceResourcesAccepted");
  ClosingObjects objects{.slices = {slice("batch", "milan", false, cordoned), slice("pool", "milan", false, fine),
                                    slice("lent", "rome", true, cordoned), slice("other", "rome-2", true, cordoned)},
                         .tenants = {tenant("rome", ""), tenant("rome-2", "Drained")}};
  CHECK(closings_with("milan", objects) == std::vector<std::string>{"slice batch is Cordoned by milan"});
  CHECK(closings_with("rome", objects) ==
        std::vector<std::string>{
            "slice lent is Cordoned here (liqoctl uncordon resourceslice lent --remote-cluster-id rome)"});
  CHECK(closings_with("rome-2", objects) ==
        std::vector<std::string>{"Tenant rome-2 is Drained here (liqoctl uncordon tenant rome-2)"});
  CHECK(closings_with("paris", objects).empty());
}

TEST_CASE("what a consumer is lent is summed over its slices") {
  const std::string fine = resources("Accepted", "ResourceSliceResourcesAccepted");
  const std::vector<kube::Object> slices{slice("a", "rome", true, fine), slice("b", "rome", true, fine),
                                         slice("c", "rome", true, resources("Denied", "TenantDrained")),
                                         slice("d", "rome", false, fine), slice("e", "paris", true, fine)};
  CHECK(lent_to("rome", {.slices = slices, .tenants = {}}) == "2 slices (cpu 4)");
  CHECK(lent_to("paris", {.slices = slices, .tenants = {}}) == "1 slice (cpu 2)");
  CHECK(lent_to("turin", {.slices = slices, .tenants = {}}) == "nothing yet");
}

TEST_CASE("a drained consumer is lent nothing new, whether its pods run or not") {
  const std::string said = resources("Denied", "TenantDrained");
  ClosingObjects objects{.slices = {slice("a", "rome", true, said)}, .tenants = {tenant("rome", "Drained")}};
  CHECK(granted_now(objects.slices.front()).empty());
  CHECK(lent_to("rome", objects) == "nothing new: drained");
  // One is drained, and another one has no answer yet.
  ClosingObjects some{.slices = objects.slices, .tenants = {tenant("rome", "")}};
  CHECK(lent_to("rome", some) == "nothing new: drained");
  some.slices.push_back(slice("b", "rome", true, ""));
  some.slices.back().mutable_status().erase("resources");
  CHECK(lent_to("rome", some) == "nothing yet");
  some.tenants = objects.tenants;
  CHECK(lent_to("rome", some) == "nothing new: drained");
  kube::Object quota(json::parse(R"({"metadata":{"name":"a-1","namespace":"t"},
      "status":{"used":{"cpu":"1","pods":"2","gpu":"0"}}})")
                         .as_object());
  objects.quotas = {quota};
  CHECK(lent_to("rome", objects) == "nothing new: drained; its pods hold cpu 1, pods 2 still");
  CHECK_FALSE(is_quota_drained(quota, {}));
  kube::Object owner = tenant("rome", "Drained");
  owner.mutable_metadata()["namespace"] = "t";
  CHECK(is_quota_drained(quota, {owner}));
  quota.set_annotation("liqo.io/drained", "true");
  CHECK(is_quota_drained(quota, {}));
}

TEST_CASE("a slice that is being deleted says so, whatever was answered") {
  kube::Object going = slice("batch", "milan", false, resources("Accepted", "ResourceSliceCordoned"));
  going.mutable_metadata()["deletionTimestamp"] = "2026-11-21T10:00:00Z";
  CHECK(state_of_slice(going) == "Deleting");
  kube::Object node(json::parse(R"({"metadata":{"name":"old","deletionTimestamp":"2026-11-21T10:00:00Z"},
                                    "spec":{"clusterID":"milan"}})")
                        .as_object());
  CHECK(closings_with("milan", {.slices = {going}, .tenants = {}, .virtual_nodes = {node}}) ==
        std::vector<std::string>{"slice batch is being deleted", "virtual node old is being deleted"});
}

TEST_CASE("the answer to a lent slice is in the provider's words, with its advice, that to a slice of ours is not") {
  const std::string_view said = "the provider has cordoned this cluster: what is granted stays, new pods are refused";
  CHECK(answer_in_words(slice("a", "rome", true, ""), said) ==
        "this cluster has cordoned consumer rome: what is granted stays, new pods are refused");
  CHECK(answer_in_words(slice("a", "milan", false, ""), said) == said);
  const std::string_view denied =
      "the provider grants a slice of this cluster no more than 3 of cpu, and this one would have 4: ask for less, or "
      "its operator for more (maxSliceResources in the policy); what was granted before stays: set the spec back to "
      "what it was, and the slice is accepted again";
  CHECK(answer_in_words(slice("a", "milan", false, ""), denied) == denied);
  CHECK(
      answer_in_words(slice("a", "rome", true, ""), denied) ==
      "this cluster grants a slice of consumer rome no more than 3 of cpu, and this one would have 4: allow more with "
      "liqoctl set tenant rome --max-slice; what was granted before stays");
}

TEST_CASE("slices are listed with their state and their amounts") {
  const auto& kinds = listed_kinds();
  const std::string table = listing(
      kinds.front(), {slice("batch", "milan", false, resources("Accepted", "ResourceSliceCordoned"))}, false, {});
  CHECK(table.contains("STATE"));
  CHECK(table.contains("Cordoned"));
  CHECK(table.contains("cpu 2"));
  CHECK_FALSE(table.contains("AUTHENTICATION"));
}
