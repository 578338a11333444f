// One liqod over one fake API server in virtual time, for tests of controllers.
#pragma once

#include <chrono>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controllers/links/provider_link.hpp"
#include "controllers/process/process.hpp"
#include "core/reflection/kind.hpp"
#include "fake_signer.hpp"
#include "kube/testing/fake/garbage_collector.hpp"
#include "kube/testing/fake/quota_controller.hpp"
#include "kube/testing/link/sim_link.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::testing {

namespace asio = boost::asio;
namespace json = kube::json;

/// A provider's API server of the simulation. Tests override send() to refuse or count requests.
class PlainLink : public controllers::ProviderLink, public kube::net::Transport {
 public:
  explicit PlainLink(kube::testing::SimLink& link) : transport_(link) {}
  kube::net::Transport& transport() final { return *this; }
  kube::net::Upgrader* upgrader() final { return nullptr; }
  asio::awaitable<void> stop() final { co_return; }
  asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest request, kube::Deadline deadline) override {
    return transport_.send(std::move(request), deadline);
  }

 private:
  kube::testing::SimTransport transport_;
};

/// The time in the format of the header Date.
inline std::string http_date(kube::WallTime time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[40];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

/// A cluster named `id` and its liqod, which may be stopped and started again. stop() before the end.
class ClusterFixture {
 public:
  explicit ClusterFixture(std::string id)
      : id_(std::move(id)),
        server(simulator.clock()),
        collector(simulator, server),
        quota_controller(simulator, server),
        signer(simulator, server),
        link(simulator, server, "system:serviceaccount:liqo:liqo"),
        transport_(link, *this),
        random_(1) {
    namespace kinds = api::kinds;
    for (const kube::Resource& kind :
         {kinds::virtual_nodes, kinds::shadow_pods, kinds::shadow_endpoint_slices, kinds::namespace_maps,
          kinds::namespace_offloadings, kinds::quotas, kinds::vk_options_templates, kinds::foreign_clusters,
          kinds::tenants, kinds::identities, kinds::resource_slices, kinds::renews, kinds::networks,
          kinds::limit_ranges, kinds::runtime_classes})
      server.serve(kind);
    for (const core::reflection::ReflectedKind* kind : core::reflection::reflected_kinds())
      if (!server.serves(kind->resource)) server.serve(kind->resource);
  }

  void start(controllers::Settings settings = {}) {
    settings.cluster_id = id_;
    if (settings.peering.api_server_override.empty()) settings.peering.api_server_override = id_ + ":6443";
    if (settings.peering.ca_pem.empty()) settings.peering.ca_pem = "CA of " + id_;
    process_ = std::make_unique<controllers::Process>(
        controllers::ProcessContext{.environment = {simulator.executor(), simulator.clock(), random_, metrics_},
                                    .home = transport_,
                                    .connect = connect,
                                    .settings = std::move(settings),
                                    .election = election,
                                    .ledger = ledger,
                                    .entropy = [this](std::size_t size) -> kube::Result<std::string> {
                                      return std::string(size, static_cast<char>(++seed_));
                                    }});
    group_.emplace(simulator.executor(), kube::async::TaskGroup::OnFailure::keep_others);
    group_->spawn(run(*process_));
  }
  void stop() {
    if (group_) simulator.run(group_->stop());
    process_.reset();
  }

  /// Lets time pass until the condition holds; false if it does not within the limit.
  bool reaches(const std::function<bool()>& holds, kube::Duration limit = std::chrono::minutes(1)) {
    return simulator.run_until(holds, limit) == kube::testing::Simulator::End::reached;
  }
  void pass(kube::Duration time) { static_cast<void>(simulator.run_for(time)); }

  kube::Object apply(const kube::Resource& resource, const kube::Object& object) {
    if (!server.get(resource, object.key())) static_cast<void>(server.create(resource, object.tree(), "operator"));
    static_cast<void>(
        server.update({resource, object.key()}, [&](json::object& next) { merge(next, object.tree()); }, "operator"));
    return *find(resource, object.key());
  }
  void change(const kube::Resource& resource, const kube::ObjectKey& key, std::string_view subresource,
              const std::function<void(json::object&)>& how) {
    static_cast<void>(server.update({resource, key, subresource}, how, "operator"));
  }
  std::optional<kube::Object> find(const kube::Resource& resource, const kube::ObjectKey& key) {
    const auto tree = server.get(resource, key);
    return tree ? std::optional(kube::Object(*tree)) : std::nullopt;
  }
  bool has(const kube::Resource& resource, const kube::ObjectKey& key) { return find(resource, key).has_value(); }
  /// The messages of the Events with that reason.
  std::vector<std::string> events(std::string_view reason) {
    std::vector<std::string> found;
    for (const auto& event : server.list(kube::resources::events))
      if (kube::string_at(*event, {"reason"}) == reason) found.emplace_back(kube::string_at(*event, {"message"}));
    return found;
  }
  /// How often Events with that reason were sent, by their counts.
  std::int64_t times_reported(std::string_view reason) {
    std::int64_t count = 0;
    for (const auto& event : server.list(kube::resources::events))
      if (kube::string_at(*event, {"reason"}) == reason) count += kube::int_at(*event, {"count"});
    return count;
  }
  controllers::Process& process() { return *process_; }
  std::string metrics() const { return metrics_.text(); }
  /// Writes of liqod that reached the server, Events left out.
  std::size_t writes() const {
    std::size_t count = 0;
    for (const auto& write : server.writes())
      if (write.actor == link.actor() && write.plural != "events") ++count;
    return count;
  }

 private:
  static void merge(json::object& into, const json::object& from) {
    for (const auto& [key, value] : from) {
      if (value.is_object() && into.contains(key) && into[key].is_object())
        merge(into[key].get_object(), value.get_object());
      else
        into[key] = value;
    }
  }
  static asio::awaitable<void> run(controllers::Process& process) { co_await process.run(); }

  std::string id_;
  unsigned char seed_ = 0;

 public:
  kube::testing::Simulator simulator{1};
  kube::testing::FakeApiServer server;
  kube::testing::FakeGarbageCollector collector;
  kube::testing::FakeQuotaController quota_controller;
  FakeSigner signer;
  kube::testing::SimLink link;
  /// Makes the links to providers; to be set before start().
  controllers::ConnectProvider connect =
      [](const std::string&, const kube::Object&) -> kube::Result<std::unique_ptr<controllers::ProviderLink>> {
    return kube::fail(kube::Errc::connect, "there is no other cluster here");
  };

  /// The settings of the leader election; none: liqod leads alone. To be set before start().
  std::optional<kube::LeaderElectionSettings> election;
  /// How pods are counted; none: Quotas are not enforced. To be set before start().
  std::optional<quota::LedgerSettings> ledger;

  /// Changes a request before the server handles it; to be set before start().
  std::function<void(kube::HttpRequest&)> reads;
  /// The message with which admission refuses a request, "" = it does not; to be set before start().
  std::function<std::string(const kube::HttpRequest&)> refuses;
  /// The code of these answers.
  int refusal_code = 403;
  /// By how much the server's clock is ahead of liqod's in the header of its answers; objects are stamped by the latter
  /// all the same.
  std::chrono::seconds server_ahead{0};

 private:
  class RefusedBody final : public kube::net::Body {
   public:
    RefusedBody(std::string words, int code) {
      json::object status{{"kind", "Status"}, {"status", "Failure"}, {"code", code}};
      status["reason"] = code == 403 ? "Forbidden" : "InternalError";
      status["message"] = std::move(words);
      text_ = json::serialize(status);
    }
    asio::awaitable<kube::Result<std::string>> read() override { co_return std::exchange(text_, ""); }

   private:
    std::string text_;
  };
  class HomeTransport final : public kube::net::Transport {
   public:
    HomeTransport(kube::testing::SimLink& to, ClusterFixture& fixture) : transport_(to), fixture_(fixture) {}
    asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest request,
                                                            kube::Deadline deadline) override {
      if (fixture_.reads) fixture_.reads(request);
      if (std::string words = fixture_.refuses ? fixture_.refuses(request) : ""; !words.empty())
        co_return kube::net::Response{
            .head = {.status = fixture_.refusal_code, .headers = {{"content-type", "application/json"}}},
            .body = std::make_unique<RefusedBody>(std::move(words), fixture_.refusal_code)};
      auto response = co_await transport_.send(std::move(request), deadline);
      if (response && fixture_.server_ahead != std::chrono::seconds(0))
        response->head.headers.emplace_back("date",
                                            http_date(fixture_.simulator.clock().wall() + fixture_.server_ahead));
      co_return response;
    }

   private:
    kube::testing::SimTransport transport_;
    ClusterFixture& fixture_;
  };
  HomeTransport transport_;
  kube::Random random_;
  kube::Metrics metrics_;
  std::unique_ptr<controllers::Process> process_;
  std::optional<kube::async::TaskGroup> group_;
};

}  // namespace liqo::testing
