// One word on what is left out of copies, however many virtual nodes a provider has.
#include "liqo/core/reflection_filters.hpp"

#include "objects.hpp"

namespace liqo::core {
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
  CHECK(filters_of(*decides) == ReflectionFilters{.labels = {"old"}, .annotations = {}});
  CHECK_FALSE(filters_of(nodes[0]) == filters_of(nodes[2]));
  CHECK(filters_decided_by(nodes, "turin")->name() == "a");
  CHECK_FALSE(filters_decided_by(nodes, "naples"));
  CHECK_FALSE(filters_decided_by({}, "milan"));
}

}  // namespace liqo::core
