// Demands that do not fit into a Quota, and the sentence that refuses them.
#include "core/quota/quota_state.hpp"

#include <doctest/doctest.h>

#include "test_amounts.hpp"

namespace liqo::core {
namespace {

using testing::resources;

TEST_CASE("a refusal says what was asked, used, free, and of which quota") {
  struct Case {
    Resources hard, used, demand;
    std::string_view refusal;
  };
  const Case cases[] = {
      {resources({{"cpu", "4"}}), resources({{"cpu", "3"}}), resources({{"cpu", "1"}}), ""},
      {resources({{"cpu", "4"}}), resources({{"cpu", "2"}}), resources({{"cpu", "2500m"}}),
       "quota t/q has not enough cpu: asked 2500m, used 2 of 4, free 2"},
      // A quota that was lowered below what is used.
      {resources({{"cpu", "2"}}), resources({{"cpu", "3"}}), resources({{"cpu", "1"}}),
       "quota t/q has not enough cpu: asked 1, used 3 of 2, free 0"},
      {resources({{"cpu", "2"}}), resources({{"cpu", "3"}}), resources({{"cpu", "0"}}), ""},
      {resources({{"cpu", "4"}}),
       {},
       resources({{"nvidia.com/gpu", "1"}}),
       "quota t/q grants no nvidia.com/gpu: the pod asks for 1, and the resource is not part of the slice"},
      {resources({{"cpu", "4"}}), {}, resources({{"hugepages-2Mi", "0"}}), ""},
      {resources({{"pods", "2"}}), resources({{"pods", "2"}}), resources({{"pods", "1"}}),
       "quota t/q has not enough pods: asked 1, used 2 of 2, free 0"},
      {resources({{"cpu", "2"}}), {}, resources({{"pods", "1"}}), ""},
      {resources({{"memory", "1Gi"}}), resources({{"memory", "1023Mi"}}), resources({{"memory", "1Mi"}}), ""},
      {resources({{"memory", "1Gi"}}), resources({{"memory", "1023Mi"}}), resources({{"memory", "1048577"}}),
       "quota t/q has not enough memory: asked 1048577, used 1023Mi of 1Gi, free 1Mi"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.refusal);
    const QuotaState state{.quota = {"t", "q"}, .hard = c.hard, .used = c.used};
    CHECK(refuse_demand(state, c.demand) == c.refusal);
    // Without figures it says the same, but not how much there is.
    CHECK(std::string(c.refusal).starts_with(refuse_demand(state, c.demand, false)));
    CHECK_FALSE(refuse_demand(state, c.demand, false).contains(", used"));
  }
}

}  // namespace
}  // namespace liqo::core
