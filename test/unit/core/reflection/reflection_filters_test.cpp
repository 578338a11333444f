// One word on what is left out of copies, however many virtual nodes a provider has.
#include "core/reflection/reflection_filters.hpp"

#include <algorithm>

#include "../objects.hpp"

namespace liqo::core::reflection {
namespace {

using namespace testing;

kube::Object node(std::string_view name, std::string_view cluster, std::string_view created, std::string_view label) {
  kube::Object made = parse(R"({"kind": "VirtualNode", "metadata": {"name": "x", "namespace": "liqo-tenant-milan"}})");
  made.mutable_metadata()["name"] = name;
  made.mutable_metadata()["creationTimestamp"] = created;
  made.mutable_spec()["clusterID"] = cluster;
  made.mutable_spec()["offloadingPatch"] =
      json::object{{"labelsNotReflected", json::array{json::string(label)}}, {"annotationsNotReflected", "nonsense"}};
  return made;
}

}  // namespace

TEST_CASE("the oldest virtual node of a provider decides what copies leave out") {
  const std::vector<kube::Object> nodes{
      node("b", "milan", "2026-11-21T10:00:02Z", "young"), node("z", "milan", "2026-11-21T10:00:01Z", "same age"),
      node("c", "milan", "2026-11-21T10:00:01Z", "old"), node("a", "turin", "2026-11-21T09:00:00Z", "elsewhere")};
  const kube::Object* decides = filters_decided_by(nodes, "milan");
  REQUIRE(decides);
  CHECK(decides->name() == "c");
  CHECK(filters_of(*decides, nullptr, {}) == ReflectionFilters{.labels = {"old"}, .annotations = {}});
  CHECK_FALSE(filters_of(nodes[0], nullptr, {}) == filters_of(nodes[2], nullptr, {}));
  CHECK(filters_decided_by(nodes, "turin")->name() == "a");
  CHECK_FALSE(filters_decided_by(nodes, "naples"));
  CHECK_FALSE(filters_decided_by({}, "milan"));
}

TEST_CASE("what is left out of copies is what is said by the virtual node, by its template, and of all") {
  const kube::Object virtual_node = node("milan", "milan", "2026-11-21T10:00:02Z", "of-node");
  const kube::Object options = parse(
      R"({"kind": "VkOptionsTemplate", "metadata": {"name": "x"}, "spec": {"labelsNotReflected": ["of-template", "of-node", 3],
    "annotationsNotReflected": ["note"]}})");
  const ReflectionFilters everywhere{.labels = {"z"}, .annotations = default_annotations_not_reflected()};
  ReflectionFilters wanted{.labels = {"of-node", "of-template", "z"}, .annotations = everywhere.annotations};
  wanted.annotations.emplace_back("note");
  std::ranges::sort(wanted.annotations);
  CHECK(filters_of(virtual_node, &options, everywhere) == wanted);
  CHECK(filters_of(virtual_node, nullptr, {}) == ReflectionFilters{.labels = {"of-node"}, .annotations = {}});
  CHECK(std::ranges::find(everywhere.annotations, "cloud.google.com/neg") != everywhere.annotations.end());
}

}  // namespace liqo::core::reflection
