// One pod asks for all that are refused alike, and none is forgotten.
#include "core/offloading/refused_orders.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using Keys = std::vector<kube::ObjectKey>;

kube::ObjectKey key(int number) { return {"shop", "web-" + std::to_string(number)}; }

kube::Object asking_for(std::string_view cpu, std::string_view name = "web", std::string_view ns = "shop") {
  kube::Object pod = local_pod(
      "{}", R"({"containers": [{"name": "main", "resources": {"requests": {"cpu": ")" + std::string(cpu) + R"("}}}]})");
  pod.mutable_metadata()["name"] = name;
  pod.mutable_metadata()["namespace"] = ns;
  return pod;
}

}  // namespace

TEST_CASE("pods are refused alike where they ask for the same and hear the same, numbers and names aside") {
  const auto group = refusal_group(asking_for("1"), "quota a/b: cpu is used up: web asks for 1, and 500m of 4 is free");
  CHECK(refusal_group(asking_for("1", "other"), "quota a/b: cpu is used up: other asks for 1, and 0 of 4 is free") ==
        group);
  CHECK(refusal_group(asking_for("2"), "quota a/b: cpu is used up: web asks for 1, and 500m of 4 is free") != group);
  CHECK(refusal_group(asking_for("1"), "quota a/b is cordoned") != group);
  CHECK(refusal_group(asking_for("1", "web", "bar"),
                      "quota a/b: cpu is used up: web asks for 1, and 500m of 4 is free") != group);
}

TEST_CASE("one asks, the others wait, and all are taken in the end") {
  RefusedOrders orders;
  for (int i = 0; i < 1000; ++i) CHECK(orders.refused(key(i), "a") == (i == 0));
  CHECK(orders.asking() == Keys{key(0)});
  CHECK(orders.refused(key(0), "a"));
  CHECK_FALSE(orders.waits(key(0)));
  CHECK(orders.waits(key(1)));
  Keys due{key(0)};
  int rounds = 0, all = 0;
  while (!due.empty()) {
    Keys next;
    for (const kube::ObjectKey& pod : due) {
      CHECK_FALSE(orders.waits(pod));
      ++all;
      for (kube::ObjectKey& woken : orders.taken(pod)) next.push_back(std::move(woken));
    }
    due = std::move(next);
    ++rounds;
  }
  CHECK(all == 1000);
  CHECK(rounds == 10);
  CHECK(orders.asking().empty());
  CHECK(orders.taken(key(0)).empty());
}

TEST_CASE("where room is for some only, one goes on asking") {
  RefusedOrders orders;
  for (int i = 0; i < 10; ++i) (void)orders.refused(key(i), "a");
  const Keys woken = orders.taken(key(0));
  REQUIRE(woken.size() == 2);
  CHECK_FALSE(orders.refused(woken[0], "a"));
  CHECK(orders.refused(woken[1], "a"));
  CHECK(orders.asking() == Keys{woken[1]});
  CHECK(orders.waits(woken[0]));
}

TEST_CASE("who leaves is replaced, and who is refused for another reason changes its group") {
  RefusedOrders orders;
  for (int i = 0; i < 3; ++i) (void)orders.refused(key(i), "a");
  CHECK(orders.left(key(2)).empty());
  CHECK(orders.left(key(0)) == Keys{key(1)});
  CHECK(orders.left(key(1)).empty());
  CHECK(orders.left(key(1)).empty());
  CHECK(orders.asking().empty());
  (void)orders.refused(key(0), "a");
  (void)orders.refused(key(1), "a");
  CHECK(orders.changed(key(0), "a").empty());
  CHECK(orders.changed(key(7), "b").empty());
  // A pod that waited in its old group asks for that group now.
  CHECK(orders.changed(key(0), "b") == Keys{key(1)});
  CHECK(orders.refused(key(0), "b"));
  CHECK_FALSE(orders.waits(key(1)));
  CHECK(orders.asking().size() == 2);
}

}  // namespace liqo::core
