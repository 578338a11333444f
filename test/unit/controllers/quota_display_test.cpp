// What is shown of the use of quotas, over a fake API server: how often it is written, and where it cannot be.
#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "kube/testing/sim_link.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/controllers/quota_display.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace json = kube::json;

constexpr std::string_view tenant = "liqo-tenant-rome", twin = "shop-rome", user = "pool-573ffa690333";

class Follower final : public kube::Leadership {
 public:
  using Leadership::Leadership;
};

/// One replica's ledger and display beside a Quota of eight cores.
struct Display {
  explicit Display(bool leads = true)
      : server(simulator.clock()),
        link(simulator, server, "liqod"),
        transport(link),
        api(transport, simulator.clock(), random, metrics, {.cluster = "milan"}),
        home(simulator.executor(), api, metrics),
        events(simulator.executor(), api, metrics, "liqo"),
        leader(simulator.executor()),
        follower(simulator.executor()),
        context{.home = home,
                .events = events,
                .leadership = leads ? static_cast<kube::Leadership&>(leader) : follower,
                .clock = simulator.clock(),
                .random = random,
                .metrics = metrics,
                .settings = settings},
        group(simulator.executor()) {
    for (const kube::Resource& kind :
         {api::kinds::shadow_pods, api::kinds::quotas, kube::Resource{"", "v1", "limitranges", "LimitRange"},
          kube::Resource{"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", false}})
      server.serve(kind);
    kube::Object quota = kube::Object::make(api::kinds::quotas, key);
    quota.mutable_spec() = {{"user", user}, {"resources", json::object{{"cpu", "8"}, {"memory", "4Gi"}}}};
    static_cast<void>(server.create(api::kinds::quotas, quota.tree(), "operator"));
    ledger =
        std::make_unique<controllers::QuotaLedger>(simulator.executor(), context, api, controllers::LedgerSettings{});
    display = std::make_unique<controllers::QuotaDisplay>(simulator.executor(), context, *ledger);
    group.spawn(home.run());
    group.spawn(events.run());
    group.spawn(ledger->run());
    group.spawn(display->run());
  }
  ~Display() { simulator.run(group.stop()); }

  void add_pod(int number) {
    kube::Object shadow =
        kube::Object::make(api::kinds::shadow_pods, {std::string(twin), "web-" + std::to_string(number)});
    shadow.set_label(api::labels::creator_user, user);
    shadow.mutable_spec() = {
        {"pod",
         json::object{{"containers", json::array{json::object{
                                         {"name", "main"},
                                         {"resources", json::object{{"requests", json::object{{"cpu", "100m"}}}}}}}}}}};
    static_cast<void>(server.create(api::kinds::shadow_pods, shadow.tree(), "rome"));
  }
  std::string shown() { return json::serialize(kube::object_at(*server.get(api::kinds::quotas, key), {"status"})); }
  bool shows(std::string_view status) {
    return simulator.run_until([&] { return shown() == status; }, 5min) == kube::testing::Simulator::End::reached;
  }
  void pass(kube::Duration time) { static_cast<void>(simulator.run_for(time)); }
  std::size_t tries() const {
    std::size_t count = 0;
    for (const auto& write : server.writes()) count += write.plural == "quotas" && write.subresource == "status";
    return count;
  }
  std::size_t told() {
    std::size_t count = 0;
    for (const auto& event : server.list(kube::resources::events))
      count += kube::string_at(*event, {"reason"}) == "UseNotShown";
    return count;
  }

  const kube::ObjectKey key{std::string(tenant), std::string(user)};
  kube::testing::Simulator simulator{1};
  kube::testing::FakeApiServer server;
  kube::testing::SimLink link;
  kube::testing::SimTransport transport;
  kube::Random random{1};
  kube::Metrics metrics;
  controllers::Settings settings{.cluster_id = "milan"};
  kube::Api api;
  kube::InformerSet home;
  kube::EventRecorder events;
  kube::SoleLeader leader;
  Follower follower;
  controllers::Context context;
  std::unique_ptr<controllers::QuotaLedger> ledger;
  std::unique_ptr<controllers::QuotaDisplay> display;
  kube::async::TaskGroup group;
};

}  // namespace

TEST_CASE("a Quota shows what is used, in few writes, and none while nothing changes") {
  Display milan;
  CHECK(milan.shows(R"({"used":{"cpu":"0","memory":"0"},"reserved":{},"pods":0})"));
  const std::size_t before = milan.tries();
  for (int number = 0; number < 50; ++number) {
    milan.add_pod(number);
    milan.pass(200ms);
  }
  CHECK(milan.shows(R"({"used":{"cpu":"5","memory":"0"},"reserved":{},"pods":50})"));
  // Ten seconds and a little at one in three.
  CHECK(milan.tries() - before <= 5);
  const std::size_t after = milan.tries();
  milan.pass(10min);
  CHECK(milan.tries() == after);
}

TEST_CASE("only the leader writes the display") {
  Display milan(false);
  milan.add_pod(1);
  milan.pass(1min);
  CHECK(milan.tries() == 0);
  CHECK(milan.ledger->usage(milan.key).pods == 1);
}

TEST_CASE("where the CRD has no status it is said once, the ledger counts on, and the display comes back") {
  Display milan;
  REQUIRE(milan.shows(R"({"used":{"cpu":"0","memory":"0"},"reserved":{},"pods":0})"));
  auto& kind = milan.server.store().table(api::kinds::quotas).kind;
  kind.status_subresource = false;
  const std::size_t before = milan.tries();
  for (int number = 0; number < 100; ++number) {
    milan.add_pod(number);
    milan.pass(3s);
  }
  CHECK(milan.told() == 1);
  // Five minutes at one in a minute.
  CHECK(milan.tries() - before <= 7);
  CHECK(milan.ledger->usage(milan.key).pods == 100);
  milan.pass(2min);
  const std::size_t quiet = milan.tries();
  milan.pass(1h);
  CHECK(milan.tries() == quiet);

  kind.status_subresource = true;
  milan.add_pod(100);
  CHECK(milan.shows(R"({"used":{"cpu":"10100m","memory":"0"},"reserved":{},"pods":101})"));
  CHECK(milan.told() == 1);
}

}  // namespace liqo::testing
