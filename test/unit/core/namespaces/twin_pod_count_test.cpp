// The amounts that the ShadowPods of consumers hold, while they come and go.
#include "core/namespaces/twin_pod_count.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

Resources demand(std::int64_t cpu) { return {{"cpu", kube::Quantity(cpu)}, {"pods", kube::Quantity(1)}}; }

/// "2/6 cpu of 3 pods": what waits, and the whole, in a twin.
std::string shown(const TwinPodCount& count, std::string name) {
  TwinPods twin{.twin = std::move(name)};
  count.read(twin);
  return amount(twin.waiting, "requests.cpu").text() + "/" + amount(twin.whole, "requests.cpu").text() + " cpu of " +
         amount(twin.whole, "pods").text() + " pods";
}

TEST_CASE("pods are summed up by twin and by user") {
  TwinPodCount count;
  count.add({"a", "one"}, {.user = "ada", .demand = demand(1)});
  count.add({"a", "two"}, {.user = "bob", .demand = demand(2), .waiting = true});
  count.add({"b", "one"}, {.user = "ada", .demand = demand(4)});
  CHECK(shown(count, "a") == "2/3 cpu of 2 pods");
  CHECK(shown(count, "b") == "0/4 cpu of 1 pods");
  CHECK(shown(count, "c") == "0/0 cpu of 0 pods");
  CHECK(count.twins() == std::vector<std::string>{"a", "b"});
  CHECK(count.pods_in("a").size() == 2);
  CHECK(amount(count.held().at("ada"), "cpu") == kube::Quantity(5));
  CHECK(amount(count.held().at("bob"), "cpu") == kube::Quantity(2));
}

TEST_CASE("a pod that is counted anew counts once, as it is now") {
  TwinPodCount count;
  count.add({"a", "one"}, {.user = "ada", .demand = demand(1), .waiting = true});
  count.forget({"a", "one"});
  count.add({"a", "one"}, {.user = "ada", .demand = demand(3)});
  CHECK(shown(count, "a") == "0/3 cpu of 1 pods");
  CHECK(amount(count.held().at("ada"), "cpu") == kube::Quantity(3));
}

TEST_CASE("with the last pod its twin and its user go") {
  TwinPodCount count;
  count.add({"a", "one"}, {.user = "ada", .demand = demand(1), .waiting = true});
  count.add({"a", "two"}, {.user = "ada", .demand = demand(2)});
  count.forget({"a", "one"});
  CHECK(shown(count, "a") == "0/2 cpu of 1 pods");
  count.forget({"a", "two"});
  count.forget({"a", "two"});
  CHECK(count.twins().empty());
  CHECK(count.held().empty());
  CHECK(count.pods_in("a").empty());
}

TEST_CASE("what a twin had before stays where no pod of it counts") {
  TwinPods twin{.twin = "a", .waiting = demand(1), .whole = demand(2)};
  TwinPodCount().read(twin);
  CHECK(twin.waiting == demand(1));
  CHECK(twin.whole == demand(2));
}

}  // namespace
}  // namespace liqo::core
