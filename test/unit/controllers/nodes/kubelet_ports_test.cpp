// Ports of virtual nodes, as the process that leads assigns them.
#include "controllers/nodes/kubelet_ports.hpp"

#include <doctest/doctest.h>

#include <random>

namespace {

using liqo::controllers::KubeletPorts;
using Names = std::vector<std::string>;

/// Compares with the plan for all nodes, at each step.
struct Plain {
  liqo::core::NodePorts claims() const {
    liqo::core::NodePorts all = decided;
    all.insert(shown.begin(), shown.end());
    return all;
  }
  Names concerned() const {
    Names names;
    for (const auto& [node, port] : liqo::core::plan_node_ports(range, claims()))
      if (claims().at(node) != port) names.push_back(node);
    return names;
  }
  /// The port, and whether another node has it.
  std::pair<std::uint16_t, bool> decide(const std::string& node) {
    liqo::core::NodePorts wanted = claims();
    wanted.try_emplace(node, 0);
    const auto plan = liqo::core::plan_node_ports(range, wanted);
    decided.insert_or_assign(node, plan.at(node));
    bool is_shared = false;
    for (const auto& [other, port] : plan) is_shared = is_shared || (other != node && port == plan.at(node));
    return {plan.at(node), is_shared && range.count > 1};
  }

  liqo::core::PortRange range;
  liqo::core::NodePorts shown{}, decided{};
};

}  // namespace

TEST_CASE("what was decided counts before a Node shows it") {
  KubeletPorts ports({10250, 8});
  CHECK(ports.decide("milan").port == 10250);
  CHECK(ports.decide("turin").port == 10251);
  // While the first two are being written; a lower name evicts no other node.
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

TEST_CASE("ports are those of a plan of all nodes, whatever happens in whatever order") {
  for (const int count : {1, 2, 5}) {
    std::mt19937 random(static_cast<unsigned>(count));
    const auto any = [&random](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
    KubeletPorts ports({10250, count});
    Plain plain{{10250, count}};
    std::set<std::string> sharing;
    for (int step = 0; step < 3000; ++step) {
      CAPTURE(count);
      CAPTURE(step);
      const std::string node = "n" + std::to_string(any(8));
      if (const int what = any(10); what < 4) {
        const auto decision = ports.decide(node);
        const auto [port, is_shared] = plain.decide(node);
        REQUIRE(decision.port == port);
        REQUIRE(decision.is_shared_now == (is_shared && !sharing.contains(node)));
        if (is_shared)
          sharing.insert(node);
        else
          sharing.erase(node);
      } else if (what < 8) {
        // Ports outside of the range, too.
        const auto port = any(4) ? std::optional<std::int64_t>(10249 + any(count + 2)) : std::nullopt;
        const bool is_news =
            port ? !plain.shown.contains(node) || plain.shown.at(node) != *port : plain.shown.contains(node);
        if (port)
          plain.shown.insert_or_assign(node, *port);
        else
          plain.shown.erase(node);
        REQUIRE(ports.see(node, port) == (is_news ? plain.concerned() : Names{}));
      } else if (what < 9) {
        sharing.erase(node);
        const bool was_decided = plain.decided.erase(node) > 0;
        REQUIRE(ports.forget(node) == (was_decided ? plain.concerned() : Names{}));
      } else if (any(5) == 0) {
        plain.decided.clear();
        ports.forget_decisions();
      }
    }
  }
}

TEST_CASE("in a range of one nobody has to say that it shares") {
  KubeletPorts ports({10250, 1});
  CHECK(ports.decide("milan").port == 10250);
  CHECK(ports.decide("turin").port == 10250);
  CHECK_FALSE(ports.decide("turin").is_shared_now);
  CHECK(ports.see("milan", 10250).empty());
  CHECK(ports.see("turin", 10250).empty());
}
