// Ports of virtual nodes as the process that leads gives them.
#include "controllers/nodes/node_port_plan.hpp"

#include <doctest/doctest.h>

namespace {

using liqo::controllers::NodePortPlan;
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("what was decided counts before a Node shows it") {
  NodePortPlan plan({10250, 8});
  CHECK(plan.decide("milan").port == 10250);
  CHECK(plan.decide("turin").port == 10251);
  // While the first two are being written; a lower name pushes nobody away.
  CHECK(plan.decide("genoa").port == 10252);
  CHECK(plan.decide("milan").port == 10250);
  CHECK(plan.see("milan", 10250).empty());
  CHECK(plan.see("turin", 10251).empty());
  CHECK(plan.see("genoa", 10252).empty());
}

TEST_CASE("what Nodes show is the memory of who leads next") {
  NodePortPlan plan({10250, 8});
  plan.see("milan", 10253);
  plan.see("turin", 10250);
  CHECK(plan.decide("turin").port == 10250);
  CHECK(plan.decide("milan").port == 10253);
  CHECK(plan.decide("genoa").port == 10251);
  // Another process leads for a while and gives genoa another port.
  CHECK(plan.see("genoa", 10254) == Names{});
  CHECK(plan.decide("genoa").port == 10251);
  plan.forget_decisions();
  CHECK(plan.decide("genoa").port == 10254);
}

TEST_CASE("nodes that have to move are told") {
  NodePortPlan plan({10250, 8});
  CHECK(plan.see("milan", 10250).empty());
  CHECK(plan.see("turin", 10250) == Names{"turin"});
  CHECK(plan.see("turin", 10250).empty());  // no news
  CHECK(plan.see("genoa", 10250) == Names{"milan", "turin"});
  CHECK(plan.decide("milan").port == 10251);
  CHECK(plan.decide("turin").port == 10252);
  CHECK(plan.see("turin", 10252).empty());
}

TEST_CASE("who shares a port says so once, and gets its own when one is free") {
  NodePortPlan plan({10250, 2});
  CHECK_FALSE(plan.decide("genoa").is_shared_now);
  CHECK_FALSE(plan.decide("milan").is_shared_now);
  const auto turin = plan.decide("turin");
  CHECK(turin.port == 10250);
  CHECK(turin.is_shared_now);
  CHECK_FALSE(plan.decide("turin").is_shared_now);
  for (const auto& [name, port] : {std::pair{"genoa", 10250}, {"milan", 10251}, {"turin", 10250}})
    CHECK(plan.see(name, port).empty());
  // milan's Node goes, and then its VirtualNode.
  CHECK(plan.see("milan", std::nullopt).empty());
  CHECK(plan.forget("milan") == Names{"turin"});
  const auto alone = plan.decide("turin");
  CHECK(alone.port == 10251);
  CHECK_FALSE(alone.is_shared_now);
  CHECK(plan.forget("nobody").empty());
}

TEST_CASE("in a range of one nobody has to say that it shares") {
  NodePortPlan plan({10250, 1});
  CHECK(plan.decide("milan").port == 10250);
  CHECK(plan.decide("turin").port == 10250);
  CHECK_FALSE(plan.decide("turin").is_shared_now);
  CHECK(plan.see("milan", 10250).empty());
  CHECK(plan.see("turin", 10250).empty());
}
