// The displayed usage of quotas, over a fake API server: how often it is written, and what happens if it cannot be.
#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "kube/testing/one_cluster.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "quota/quota_display.hpp"
#include "quota/quota_metrics.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
using namespace liqo::quota;
namespace asio = boost::asio;
namespace json = kube::json;

constexpr std::string_view tenant = "liqo-tenant-rome", twin = "shop-rome", user = "pool-573ffa690333";

class Follower final : public kube::Leadership {
 public:
  using Leadership::Leadership;
};

/// One replica's ledger and display with a Quota of eight cores.
struct Display : kube::testing::OneCluster {
  explicit Display(bool leads = true)
      : kube::testing::OneCluster({.name = "milan", .actor = "liqod", .component = "liqo", .random = 1}),
        leader(simulator.executor()),
        follower(simulator.executor()),
        context{environment(), informers, events, leads ? static_cast<kube::Leadership&>(leader) : follower} {
    for (const kube::Resource& kind :
         {api::kinds::shadow_pods, api::kinds::quotas, api::kinds::limit_ranges, api::kinds::runtime_classes})
      server.serve(kind);
    kube::Object quota = kube::Object::make(api::kinds::quotas, key);
    quota.mutable_spec() = {{"user", user}, {"resources", json::object{{"cpu", "8"}, {"memory", "4Gi"}}}};
    static_cast<void>(server.create(api::kinds::quotas, quota.tree(), "operator"));
    ledger = std::make_unique<QuotaLedger>(context, api, LedgerSettings{});
    display = std::make_unique<QuotaDisplay>(context, *ledger);
    group.spawn(informers.run());
    group.spawn(events.run());
    group.spawn(ledger->run());
    group.spawn(display->run());
  }
  ~Display() { stop(); }

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
  void add_tenant() {
    kube::Object ns = kube::Object::make(kube::resources::namespaces, {"", std::string(tenant)});
    ns.set_label(api::labels::tenant_namespace, "true");
    ns.set_label(api::labels::remote_cluster_id, "rome");
    static_cast<void>(server.create(kube::resources::namespaces, ns.tree(), "operator"));
  }
  void add_quota(const std::string& name) {
    kube::Object quota = kube::Object::make(api::kinds::quotas, {std::string(tenant), name});
    quota.mutable_spec() = {{"user", name}, {"resources", json::object{{"cpu", "1"}}}};
    static_cast<void>(server.create(api::kinds::quotas, quota.tree(), "operator"));
  }
  void grant(json::object amounts) {
    static_cast<void>(server.update(
        {api::kinds::quotas, key}, [&](json::object& next) { next["spec"].as_object()["resources"] = amounts; },
        "operator"));
  }
  bool measures(const std::string& line) const { return metrics.text().find(line) != std::string::npos; }
  std::size_t count(const std::string& begin) const {
    std::size_t found = 0;
    const std::string text = metrics.text();
    for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) ++found;
    return found;
  }
  std::string shown() { return json::serialize(kube::object_at(*server.get(api::kinds::quotas, key), {"status"})); }
  bool shows(std::string_view status) {
    return reaches([&] { return shown() == status; }, 5min);
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
  kube::SoleLeader leader;
  Follower follower;
  LedgerContext context;
  std::unique_ptr<QuotaLedger> ledger;
  std::unique_ptr<QuotaDisplay> display;
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
  // Ten seconds and a little at one in 1.3.
  CHECK(milan.tries() - before <= 10);
  const std::size_t after = milan.tries();
  milan.pass(10min);
  CHECK(milan.tries() == after);
}

TEST_CASE("a Quota shows a pod a second and a half after it is counted, also right after another") {
  Display milan;
  REQUIRE(milan.shows(R"({"used":{"cpu":"0","memory":"0"},"reserved":{},"pods":0})"));
  for (int number = 0; number < 3; ++number) {
    milan.add_pod(number);
    milan.pass(1500ms);
    CHECK(milan.shown() == "{\"used\":{\"cpu\":\"" + std::to_string((number + 1) * 100) +
                               "m\",\"memory\":\"0\"},\"reserved\":{},\"pods\":" + std::to_string(number + 1) + "}");
  }
}

TEST_CASE("only the leader writes the display") {
  Display milan(false);
  milan.add_pod(1);
  milan.pass(1min);
  CHECK(milan.tries() == 0);
  CHECK(milan.ledger->usage(milan.key).pods == 1);
}

TEST_CASE("the metrics of quotas say what admission would, of the consumer of the tenant namespace") {
  Display milan;
  milan.add_tenant();
  const QuotaMetrics metrics(milan.context, *milan.ledger);
  for (int number = 0; number < 3; ++number) milan.add_pod(number);
  milan.pass(1min);
  const std::string cpu = R"({cluster_id="rome",resource="cpu",slice="pool-573ffa690333"} )";
  CHECK(milan.measures("liqo_quota_granted" + cpu + "8"));
  CHECK(milan.measures("liqo_quota_used" + cpu + "0.3"));
  CHECK(milan.measures("liqo_quota_free" + cpu + "7.7"));
  CHECK(milan.measures(
      R"(liqo_quota_granted{cluster_id="rome",resource="memory",slice="pool-573ffa690333"} 4294967296)"));
  CHECK(milan.measures(R"(liqo_quota_pods{cluster_id="rome",slice="pool-573ffa690333"} 3)"));
  CHECK(milan.measures(R"(liqo_quota_series_left_out{cluster_id="rome"} 0)"));
  // More was granted once: what is free is never less than nothing.
  milan.grant({{"cpu", "100m"}});
  milan.pass(1min);
  CHECK(milan.measures("liqo_quota_free" + cpu + "0\n"));
  // The series go with the Quota.
  static_cast<void>(milan.server.remove(api::kinds::quotas, milan.key, {}, "operator"));
  milan.pass(1min);
  CHECK_FALSE(milan.measures("liqo_quota_granted{"));
}

TEST_CASE("a consumer makes no more series than so many, whatever it calls its slices and resources") {
  Display milan;
  milan.add_tenant();
  const QuotaMetrics metrics(milan.context, *milan.ledger);
  json::object many{{"bad name\n\"", "1"}};
  for (int number = 0; number < 40; ++number) many["example.com/device-" + std::to_string(number)] = "1";
  milan.grant(many);
  for (int number = 0; number < 80; ++number) milan.add_quota("slice-" + std::to_string(number));
  milan.pass(1min);
  CHECK(milan.count("liqo_quota_granted{") == QuotaMetrics::max_slices - 1 + QuotaMetrics::max_resources);
  CHECK_FALSE(milan.measures("bad name"));
  CHECK(milan.count("liqo_quota_pods{") == QuotaMetrics::max_slices);
  // 25 of the one, and 31 Quotas of one resource each.
  CHECK(milan.measures(R"(liqo_quota_series_left_out{cluster_id="rome"} 56)"));
}

TEST_CASE("only the leader shows what quotas grant, so that sums over replicas are right") {
  Display milan(false);
  milan.add_tenant();
  const QuotaMetrics metrics(milan.context, *milan.ledger);
  milan.pass(1min);
  CHECK_FALSE(milan.measures("liqo_quota_granted{"));
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
