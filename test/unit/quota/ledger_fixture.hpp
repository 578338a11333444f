// One quota ledger over a fake API server, for tests of its verdicts and counts.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <functional>

#include "kube/testing/one_cluster.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "quota/quota_ledger.hpp"

namespace liqo::quota {

using namespace std::chrono_literals;
namespace json = kube::json;

using api::kinds::runtime_classes;
inline const kube::ObjectKey quota_key{"liqo-tenant-rome", "pool"};

/// Shows each request before it is sent, and makes some fail.
class SeenTransport final : public kube::net::Transport {
 public:
  explicit SeenTransport(kube::testing::SimLink& link) : next_(link) {}
  boost::asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest request,
                                                                 kube::Deadline deadline) override {
    if (seen) seen(request);
    if (holds) co_await holds(request);
    // As our own client fails for an answer that it cannot accept.
    if (fails && fails(request)) co_return kube::fail(kube::Errc::too_large, "the header is too large");
    co_return co_await next_.send(std::move(request), deadline);
  }
  std::function<void(const kube::HttpRequest& request)> seen;
  std::function<bool(const kube::HttpRequest& request)> fails;
  /// Delays a request before it is sent.
  std::function<boost::asio::awaitable<void>(const kube::HttpRequest& request)> holds;

 private:
  kube::testing::SimTransport next_;
};

/// One ledger over a fake API server with a Quota of 8 cores for "pool" of cluster rome. stop() before the end.
class LedgerFixture : public kube::testing::BasicOneCluster<SeenTransport> {
 public:
  LedgerFixture()
      : BasicOneCluster({.name = "milan",
                         .actor = "liqod",
                         .component = "liqo",
                         .random = 1,
                         .on_failure = kube::async::TaskGroup::OnFailure::keep_others}),
        leadership_(simulator.executor()),
        serving_(simulator.executor(), kube::async::TaskGroup::OnFailure::keep_others),
        ledger({environment(), informers, events, leadership_}, api, LedgerSettings{}) {
    for (const kube::Resource& kind :
         {api::kinds::shadow_pods, api::kinds::quotas, runtime_classes, api::kinds::limit_ranges})
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
    group.spawn(informers.run());
    serving_.spawn(ledger.run());
    REQUIRE(reaches([&] { return ledger.has_synced(); }));
  }
  void spawn(boost::asio::awaitable<void> task) { group.spawn(std::move(task)); }
  /// Ends only the ledger.
  void stop_ledger() { simulator.run(serving_.stop()); }
  void stop() {
    BasicOneCluster::stop();
    stop_ledger();
  }
  bool admits(json::object shadow, std::string uid = "") {
    shadow["metadata"].get_object()["uid"] = uid.empty() ? "uid-" + std::to_string(++asked_) : uid;
    std::optional<core::QuotaVerdict> verdict;
    group.spawn(ask(ledger, kube::Object(std::move(shadow)), verdict));
    REQUIRE(reaches([&] { return verdict.has_value(); }));
    return verdict->ruling == core::QuotaVerdict::Ruling::admitted;
  }
  core::QuotaVerdict judge(json::object shadow, core::Claimant claimant = {}, bool dry_run = false) {
    const std::size_t before = answers();
    ask(std::move(shadow), std::move(claimant), dry_run);
    REQUIRE(reaches([&] { return answers() > before; }));
    return *verdicts_.back();
  }
  /// Asks the ledger without waiting for the answer.
  void ask(json::object shadow, core::Claimant claimant = {}, bool dry_run = false) {
    shadow["metadata"].get_object()["uid"] = "uid-" + std::to_string(++asked_);
    group.spawn(ask(ledger, kube::Object(std::move(shadow)), verdicts_.emplace_back(), std::move(claimant), dry_run));
  }
  /// The number of these questions that are answered.
  std::size_t answers() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(verdicts_, [](const auto& verdict) { return verdict.has_value(); }));
  }
  const core::QuotaVerdict& last_verdict() const { return *verdicts_.back(); }
  std::size_t records() { return server.list(kube::resources::config_maps, "liqo").size(); }
  std::string used_cpu() const { return core::amount(ledger.usage(quota_key).used, "cpu").text(); }

 private:
  static boost::asio::awaitable<void> ask(QuotaLedger& ledger, kube::Object shadow,
                                          std::optional<core::QuotaVerdict>& verdict, core::Claimant claimant = {},
                                          bool dry_run = false) {
    verdict = co_await ledger.decide_on(shadow, nullptr, dry_run, std::move(claimant));
  }

  int asked_ = 0;
  std::deque<std::optional<core::QuotaVerdict>> verdicts_;
  kube::SoleLeader leadership_;
  kube::async::TaskGroup serving_;

 public:
  QuotaLedger ledger;
};

}  // namespace liqo::quota
