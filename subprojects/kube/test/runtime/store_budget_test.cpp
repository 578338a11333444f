#include "kube/runtime/store_budget.hpp"

#include <doctest/doctest.h>

using namespace kube;

TEST_CASE("the set by whose growth too much is held is told once, and the others are not") {
  Metrics metrics;
  const auto use = std::make_shared<StoreUse>(StoreUse::Limits{.bytes = 100, .objects = 3}, metrics, "milan");
  int first_told = 0, second_told = 0;
  StoreBudget first(use, [&first_told] { ++first_told; }), second(use, [&second_told] { ++second_told; });
  first.change(60, 1, "pods", "shop");
  second.change(40, 1, "secrets", "shop-rome");
  CHECK(use->fits());
  CHECK_FALSE(first.is_exceeded());
  second.change(20, 1, "configmaps", "shop-rome");
  CHECK_FALSE(use->fits());
  CHECK(second.exceeded_by() == "configmaps of shop-rome");
  CHECK_FALSE(first.is_exceeded());
  second.change(20, 0, "secrets", "shop-rome");
  CHECK(second.exceeded_by() == "configmaps of shop-rome");
  CHECK(second_told == 1);
  // A store that shrinks is never the one that is too much, whichever holds too much.
  first.change(-10, 0, "pods", "shop");
  CHECK(first_told == 0);
  const std::string text = metrics.text();
  for (const char* line :
       {"kube_store_budget_bytes{cluster=\"milan\"} 130\n", "kube_store_budget_objects{cluster=\"milan\"} 3\n",
        "kube_store_budget_max_bytes{cluster=\"milan\"} 100\n", "kube_store_budget_max_objects{cluster=\"milan\"} 3\n"})
    CHECK(text.contains(line));
  second.change(-80, -2, "secrets", "shop-rome");
  CHECK(use->fits());
  CHECK(second.is_exceeded());
}

TEST_CASE("too many objects are too much, too") {
  Metrics metrics;
  const auto use = std::make_shared<StoreUse>(StoreUse::Limits{.bytes = 100, .objects = 1}, metrics, "milan");
  StoreBudget budget(use, {});
  budget.change(1, 1, "pods", "shop");
  CHECK_FALSE(budget.is_exceeded());
  budget.change(1, 1, "pods", "shop");
  CHECK(budget.exceeded_by() == "pods of shop");
}
