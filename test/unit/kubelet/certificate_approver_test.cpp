// The controller; which requests it may approve is tested in serving_certificate_test.cpp.
#include "kubelet/certificate_approver.hpp"

#include <doctest/doctest.h>

#include "fakes.hpp"
#include "kube/testing/one_cluster.hpp"
#include "kubelet/serving_certificate.hpp"

namespace {

using namespace liqo::kubelet;
using namespace kube::testing;
using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace json = kube::json;

constexpr kube::Resource requests = kube::resources::certificate_signing_requests;
constexpr const char* account = "system:serviceaccount:liqo:liqod";

/// An API server that may refuse approvals.
class Gate final : public kube::net::Transport {
 public:
  explicit Gate(SimLink& link) : open_(link) {}
  asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest request, kube::Deadline deadline) override {
    if (!request.target.contains("/approval")) co_return co_await open_.send(std::move(request), deadline);
    ++approvals;
    if (!is_closed) co_return co_await open_.send(std::move(request), deadline);
    kube::net::Response refused;
    refused.head.status = 403;
    refused.body = std::make_unique<liqo::test::FakeBody>(
        std::vector<std::string>{R"({"kind":"Status","code":403,"reason":"Forbidden","message":"no"})"}, std::nullopt);
    co_return refused;
  }

  int approvals = 0;
  bool is_closed = false;

 private:
  SimTransport open_;
};

struct World : BasicOneCluster<Gate> {
  World() : BasicOneCluster({.name = "rome", .actor = account}) {
    group.spawn(informers.run());
    group.spawn(approver.run());
  }
  ~World() { stop(); }

  /// Stores a request for a certificate as `username` has made it.
  void request(std::string_view name, const std::string& node, std::string_view username = account) {
    const std::string key = kube::net::make_key().value();
    kube::Object made =
        forge_serving_request(kube::net::make_certificate_request(key, serving_subject(node, "10.1.2.3")).value());
    made.mutable_spec()["username"] = username;
    made.mutable_metadata()["name"] = name;
    REQUIRE(server.create(requests, made.tree(), "somebody"));
  }
  void deny(std::string_view name) {
    REQUIRE(server.update(
        {requests, {"", std::string(name)}, "status"},
        [](json::object& tree) {
          kube::ensure_object(tree, "status")["conditions"] =
              json::array{json::object{{"type", "Denied"}, {"status", "True"}}};
        },
        "somebody"));
  }
  /// The types of its conditions.
  std::string conditions_of(std::string_view name) {
    std::string types;
    const auto stored = server.get(requests, {"", std::string(name)});
    REQUIRE(stored);
    for (const json::value& condition : kube::array_at(*stored, {"status", "conditions"}))
      types += std::string(kube::string_at(condition, {"type"})) + " ";
    return types;
  }

  std::vector<std::string> nodes{"milan", "turin"};
  CertificateApprover approver{{environment(), informers, api, [this] { return nodes; }, "10.1.2.3"}};
};

}  // namespace

TEST_CASE("requests of this process for its own nodes are approved, and all others are left alone") {
  struct Case {
    const char* name;
    const char* node;
    const char* username;
    bool is_denied;
    const char* conditions;
  };
  const Case cases[] = {
      {"ours", "milan", account, false, "Approved "},
      {"of-another-node", "turin", account, false, "Approved "},
      {"of-a-machine", "worker-0", account, false, ""},
      {"of-somebody-else", "milan", "system:node:worker-0", false, ""},
      {"denied", "milan", account, true, "Denied "},
  };
  World world;
  for (const Case& c : cases) {
    world.request(c.name, c.node, c.username);
    if (c.is_denied) world.deny(c.name);
  }
  world.simulator.run_for(1min);
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(world.conditions_of(c.name) == c.conditions);
  }
  CHECK(world.transport.approvals == 2);
}

TEST_CASE("a request is approved once its node is known") {
  World world;
  world.nodes.clear();
  world.request("early", "milan");
  world.simulator.run_for(1min);
  CHECK(world.conditions_of("early") == "");
  world.nodes = {"milan"};
  world.simulator.run_for(15s);
  CHECK(world.conditions_of("early") == "Approved ");
}

TEST_CASE("an approval that is forbidden is tried again") {
  World world;
  world.transport.is_closed = true;
  world.request("ours", "milan");
  world.simulator.run_for(1min);
  CHECK(world.conditions_of("ours") == "");
  CHECK(world.transport.approvals > 1);
  world.transport.is_closed = false;
  CHECK(world.simulator.run_until([&] { return world.conditions_of("ours") == "Approved "; }, 1h) ==
        Simulator::End::reached);
}
