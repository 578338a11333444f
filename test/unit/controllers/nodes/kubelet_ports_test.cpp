// Ports of virtual nodes as the process that leads gives them.
#include "controllers/nodes/kubelet_ports.hpp"

#include <doctest/doctest.h>

namespace {

using liqo::controllers::KubeletPorts;
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("what was decided counts before a Node shows it") {
  KubeletPorts ports({10250, 8});
  CHECK(ports.decide("milan").port == 10250);
  CHECK(ports.decide("turin").port == 10251);
  // While the first two are being written; a lower name pushes nobody away.
  CHECK(ports.decide("genoa").port == 10252);
  CHECK(ports.decide("milan").port == 10250);
  CHECK(ports.see("milan", 10250).empty());
  CHECK(ports.see("turin", 10251).empty());
  CHECK(ports.see("genoa", 10252).empty());
}

TEST_CASE("what Nodes show is the memory of who leads next") {
  KubeletPorts ports({10250, 8});
  ports.see("milan", 10253);
  ports.see("turin", 10250);
  CHECK(ports.decide("turin").port == 10250);
  CHECK(ports.decide("milan").port == 10253);
  CHECK(ports.decide("genoa").port == 10251);
  // Another process leads for a while and gives genoa another port.
  CHECK(ports.see("genoa", 10254) == Names{});
  CHECK(ports.decide("genoa").port == 10251);
  ports.forget_decisions();
  CHECK(ports.decide("genoa").port == 10254);
}

TEST_CASE("nodes that have to move are told") {
  KubeletPorts ports({10250, 8});
  CHECK(ports.see("milan", 10250).empty());
  CHECK(ports.see("turin", 10250) == Names{"turin"});
  CHECK(ports.see("turin", 10250).empty());  // no news
  CHECK(ports.see("genoa", 10250) == Names{"milan", "turin"});
  CHECK(ports.decide("milan").port == 10251);
  CHECK(ports.decide("turin").port == 10252);
  CHECK(ports.see("turin", 10252).empty());
}

TEST_CASE("who shares a port says so once, and gets its own when one is free") {
  KubeletPorts ports({10250, 2});
  CHECK_FALSE(ports.decide("genoa").is_shared_now);
  CHECK_FALSE(ports.decide("milan").is_shared_now);
  const auto turin = ports.decide("turin");
  CHECK(turin.port == 10250);
  CHECK(turin.is_shared_now);
  CHECK_FALSE(ports.decide("turin").is_shared_now);
  for (const auto& [name, port] : {std::pair{"genoa", 10250}, {"milan", 10251}, {"turin", 10250}})
    CHECK(ports.see(name, port).empty());
  // milan's Node goes, and then its VirtualNode.
  CHECK(ports.see("milan", std::nullopt).empty());
  CHECK(ports.forget("milan") == Names{"turin"});
  const auto alone = ports.decide("turin");
  CHECK(alone.port == 10251);
  CHECK_FALSE(alone.is_shared_now);
  CHECK(ports.forget("nobody").empty());
}

TEST_CASE("in a range of one nobody has to say that it shares") {
  KubeletPorts ports({10250, 1});
  CHECK(ports.decide("milan").port == 10250);
  CHECK(ports.decide("turin").port == 10250);
  CHECK_FALSE(ports.decide("turin").is_shared_now);
  CHECK(ports.see("milan", 10250).empty());
  CHECK(ports.see("turin", 10250).empty());
}
