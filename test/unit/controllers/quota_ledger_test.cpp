// The quota ledger of one replica: what it counts. That no replica ever admits too much is for its simulation.
#include "liqo/controllers/quota_ledger.hpp"

#include <doctest/doctest.h>

#include "kube/testing/fake_api_server.hpp"
#include "kube/testing/sim_link.hpp"
#include "kube/testing/simulator.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
namespace json = kube::json;

constexpr kube::Resource runtime_classes{"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", false};
const kube::ObjectKey quota_key{"liqo-tenant-rome", "pool"};

/// One ledger over a fake API server with a Quota of 8 cores for "pool" of cluster rome. stop() before the end.
class LedgerFixture {
 public:
  LedgerFixture()
      : server(simulator.clock()),
        link(simulator, server, "liqod"),
        transport_(link),
        api_(transport_, simulator.clock(), random_, metrics_, {.cluster = "milan"}),
        home_(simulator.executor(), api_, metrics_),
        events_(simulator.executor(), api_, metrics_, "liqo"),
        leadership_(simulator.executor()),
        group_(simulator.executor(), kube::async::TaskGroup::OnFailure::keep_others),
        ledger(simulator.executor(),
               Context{.home = home_,
                       .events = events_,
                       .leadership = leadership_,
                       .clock = simulator.clock(),
                       .random = random_,
                       .metrics = metrics_,
                       .settings = settings_},
               api_, LedgerSettings{}) {
    for (const kube::Resource& kind : {api::kinds::shadow_pods, api::kinds::quotas, runtime_classes,
                                       kube::Resource{"", "v1", "limitranges", "LimitRange"}})
      server.serve(kind);
    apply(kube::resources::namespaces,
          {{"metadata", json::object{{"name", "liqo-tenant-rome"},
                                     {"labels", json::object{{api::labels::remote_cluster_id, "rome"},
                                                             {api::labels::tenant_namespace, "true"}}}}}});
    grant();
  }

  void grant() {
    apply(api::kinds::quotas,
          {{"metadata", json::object{{"name", "pool"}, {"namespace", "liqo-tenant-rome"}}},
           {"spec",
            json::object{{"user", "pool"}, {"limitsEnforcement", "None"}, {"resources", json::object{{"cpu", "8"}}}}}});
  }
  void apply(const kube::Resource& resource, json::object tree) {
    static_cast<void>(server.create(resource, std::move(tree), "operator"));
  }
  static json::object shadow(std::string_view name, std::string_view cpu, std::string_view runtime_class = "") {
    json::object pod{
        {"containers", json::array{json::object{
                           {"name", "main"}, {"resources", json::object{{"requests", json::object{{"cpu", cpu}}}}}}}}};
    if (!runtime_class.empty()) pod["runtimeClassName"] = runtime_class;
    return {{"apiVersion", "offloading.liqo.io/v1beta1"},
            {"kind", "ShadowPod"},
            {"metadata", json::object{{"name", name},
                                      {"namespace", "shop"},
                                      {"labels", json::object{{api::labels::creator_user, "pool"},
                                                              {api::labels::reflection_origin, "rome"}}}}},
            {"spec", json::object{{"pod", std::move(pod)}}}};
  }
  void start() {
    group_.spawn(home_.run());
    group_.spawn(ledger.run());
    REQUIRE(reaches([&] { return ledger.has_synced(); }));
  }
  void stop() { simulator.run(group_.stop()); }
  bool reaches(const std::function<bool()>& holds) {
    return simulator.run_until(holds, 1min) == kube::testing::Simulator::End::reached;
  }
  bool admits(json::object shadow, std::string uid = "") {
    shadow["metadata"].get_object()["uid"] = uid.empty() ? "uid-" + std::to_string(++asked_) : uid;
    std::optional<Judgement> judgement;
    group_.spawn(ask(ledger, kube::Object(std::move(shadow)), judgement));
    REQUIRE(reaches([&] { return judgement.has_value(); }));
    return judgement->ruling == Judgement::Ruling::admitted;
  }
  std::size_t records() { return server.list(kube::resources::config_maps, "liqo").size(); }
  std::string used_cpu() const { return core::amount(ledger.usage(quota_key).used, "cpu").text(); }

  kube::testing::Simulator simulator{1};
  kube::testing::FakeApiServer server;
  kube::testing::SimLink link;

 private:
  static boost::asio::awaitable<void> ask(QuotaLedger& ledger, kube::Object shadow,
                                          std::optional<Judgement>& judgement) {
    judgement = co_await ledger.admit(shadow, false);
  }

  int asked_ = 0;
  kube::testing::SimTransport transport_;
  kube::Random random_{1};
  kube::Metrics metrics_;
  Settings settings_{.cluster_id = "milan"};
  kube::Api api_;
  kube::InformerSet home_;
  kube::EventRecorder events_;
  kube::SoleLeader leadership_;
  kube::async::TaskGroup group_;

 public:
  QuotaLedger ledger;
};

TEST_CASE("what stored ShadowPods hold follows the overhead of their RuntimeClass") {
  LedgerFixture fixture;
  fixture.apply(api::kinds::shadow_pods, LedgerFixture::shadow("web", "1", "kata"));
  fixture.apply(api::kinds::shadow_pods, LedgerFixture::shadow("db", "1"));
  fixture.start();
  CHECK(fixture.reaches([&] { return fixture.used_cpu() == "2"; }));
  fixture.apply(runtime_classes,
                {{"metadata", json::object{{"name", "kata"}}},
                 {"handler", "kata"},
                 {"overhead", json::object{{"podFixed", json::object{{"cpu", "250m"}, {"memory", "64Mi"}}}}}});
  CHECK(fixture.reaches([&] { return fixture.used_cpu() == "2250m"; }));
  static_cast<void>(fixture.server.remove(runtime_classes, {"", "kata"}, {}, "operator"));
  CHECK(fixture.reaches([&] { return fixture.used_cpu() == "2"; }));
  fixture.stop();
}

TEST_CASE("of a Quota that went nothing is kept once its last admission has expired, and it may come back") {
  LedgerFixture fixture;
  fixture.start();
  for (int round = 0; round < 2; ++round) {
    CAPTURE(round);
    CHECK(fixture.admits(LedgerFixture::shadow("web", "5")));
    CHECK(fixture.records() == 1);
    static_cast<void>(fixture.server.remove(api::kinds::quotas, quota_key, {}, "operator"));
    // It may still be on its way into storage.
    static_cast<void>(fixture.simulator.run_for(60s));
    CHECK(fixture.records() == 1);
    CHECK_FALSE(fixture.admits(LedgerFixture::shadow("web", "5")));
    CHECK(fixture.reaches([&] { return fixture.records() == 0; }));
    CHECK(fixture.reaches([&] { return fixture.ledger.desks() == 0; }));
    fixture.grant();
    static_cast<void>(fixture.simulator.run_for(1s));
  }
  CHECK(fixture.admits(LedgerFixture::shadow("web", "8")));
  fixture.stop();
}

TEST_CASE("what was admitted by a Quota that went counts against the one that comes by its name") {
  LedgerFixture fixture;
  fixture.start();
  CHECK(fixture.admits(LedgerFixture::shadow("web", "5")));
  static_cast<void>(fixture.server.remove(api::kinds::quotas, quota_key, {}, "operator"));
  static_cast<void>(fixture.simulator.run_for(10s));
  fixture.grant();
  static_cast<void>(fixture.simulator.run_for(1s));
  CHECK_FALSE(fixture.admits(LedgerFixture::shadow("db", "5")));
  CHECK(fixture.admits(LedgerFixture::shadow("db", "3")));
  fixture.stop();
}

TEST_CASE("a Quota without a record is decided upon with every ShadowPod that is stored, however late the watch is") {
  LedgerFixture fixture;
  fixture.start();
  fixture.link.set_faults({.stalled = 1, .stalled_by = 60min});
  fixture.apply(api::kinds::shadow_pods, LedgerFixture::shadow("web", "5"));
  CHECK_FALSE(fixture.admits(LedgerFixture::shadow("db", "5")));
  CHECK(fixture.used_cpu() == "0");
  fixture.stop();
}

TEST_CASE("who was refused because the Quota had been lowered is refused again, though a reservation is left") {
  LedgerFixture fixture;
  fixture.start();
  fixture.link.set_faults({.stalled = 1, .stalled_by = 60min});
  static_cast<void>(fixture.server.update(
      api::kinds::quotas, quota_key, "",
      [](json::object& quota) { quota["spec"].get_object()["resources"].get_object()["cpu"] = "3"; }, "operator"));
  CHECK_FALSE(fixture.admits(LedgerFixture::shadow("web", "5"), "the-same"));
  CHECK(fixture.records() == 1);
  CHECK_FALSE(fixture.admits(LedgerFixture::shadow("web", "5"), "the-same"));
  fixture.stop();
}

}  // namespace
}  // namespace liqo::controllers
