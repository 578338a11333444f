// One kind reflected from rome to milan, over API servers in memory and in virtual time.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "controllers/reflection/reflector.hpp"
#include "kube/async/task_group.hpp"
#include "kube/testing/fake/api_server.hpp"
#include "kube/testing/link/sim_link.hpp"
#include "kube/testing/sim/simulator.hpp"

namespace liqo::controllers {

namespace json = kube::json;
using namespace std::chrono_literals;

inline const kube::Resource& kind = kube::resources::config_maps;
inline constexpr const char* actor = "user";

inline core::ForgingContext forging() {
  core::ForgingContext out;
  out.clusters = {.local = "rome", .remote = "milan"};
  out.node_name = "milan";
  return out;
}

/// The body of an answer that the test has written.
class WrittenBody final : public kube::net::Body {
 public:
  explicit WrittenBody(std::string text) : text_(std::move(text)) {}
  asio::awaitable<kube::Result<std::string>> read() override { co_return std::exchange(text_, ""); }

 private:
  std::string text_;
};

/// Changes requests on their way, or refuses them, as webhooks of the server would.
class Rewriting final : public kube::net::Transport {
 public:
  explicit Rewriting(kube::testing::SimLink& link) : transport_(link) {}
  asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest request, kube::Deadline deadline) override {
    if (rewrite) rewrite(request);
    if (refuses && refuses(request))
      co_return kube::net::Response{.head = {.status = 403, .headers = {{"content-type", "application/json"}}},
                                    .body = std::make_unique<WrittenBody>(refusal())};
    const bool is_changed = changes_answer && changes_answer(request);
    auto answer = co_await transport_.send(std::move(request), deadline);
    if (!is_changed || !answer || answer->head.status != 200) co_return answer;
    std::string text;
    while (true) {
      auto part = co_await answer->body->read();
      if (!part) co_return std::unexpected(part.error());
      if (part->empty()) break;
      text += *part;
    }
    json::value changed = json::parse(text);
    change_answer(changed.as_object());
    answer->body = std::make_unique<WrittenBody>(json::serialize(changed));
    co_return answer;
  }
  std::function<void(kube::HttpRequest&)> rewrite;
  std::function<bool(const kube::HttpRequest&)> refuses;
  std::string words;  ///< of the refusal
  /// Whether the answer to that request, an object, is changed, and how.
  std::function<bool(const kube::HttpRequest&)> changes_answer;
  std::function<void(json::object&)> change_answer;

 private:
  std::string refusal() const {
    json::object status{{"kind", "Status"}, {"status", "Failure"}, {"reason", "Forbidden"}, {"code", 403}};
    if (!words.empty()) status["message"] = words;
    return json::serialize(status);
  }
  kube::testing::SimTransport transport_;
};

struct World {
  explicit World(std::string_view reflected = "ConfigMap", core::ForgingContext forging = controllers::forging())
      : World(*core::reflection::find_reflected_kind(reflected), std::move(forging)) {}
  /// `owned`: copies name their twin as their owner.
  explicit World(const core::reflection::ReflectedKind& reflected,
                 core::ForgingContext forging = controllers::forging(), bool owned = false)
      : simulator(1),
        random(2),
        reflector(reflected, core::reflection::SelectionPolicy::deny_list, std::move(forging),
                  {{simulator.executor(), simulator.clock(), random, metrics},
                   home,
                   milan_api,
                   stores,
                   recorder,
                   [this](const std::string&) { return brings_home; },
                   [this](std::size_t) { return home_write(); },
                   nullptr,
                   nullptr,
                   owned ? &owners : nullptr,
                   nullptr,
                   nullptr,
                   [this](const std::string&) { return may_annotate; }}) {
    // Set before the first request.
    for (kube::testing::FakeApiServer* server : {&rome, &milan})
      if (reflected.name.contains('.')) server->serve(reflected.resource);
    group.spawn(home.run());
    group.spawn(recorder.run());
    reflector.start_namespace("shop", "shop-rome");
    start();
  }
  ~World() {
    stop();
    simulator.run(group.stop());
  }
  void start() {
    term =
        std::make_unique<kube::async::TaskGroup>(simulator.executor(), kube::async::TaskGroup::OnFailure::keep_others);
    term->spawn(reflector.run());
  }
  void stop() {
    if (term) simulator.run(term->stop());
    term.reset();
  }
  bool reaches(const std::function<bool()>& holds, kube::Duration limit = 30s) {
    return simulator.run_until(holds, limit) == kube::testing::Simulator::End::reached;
  }
  void pass(kube::Duration time) { REQUIRE(simulator.run_for(time) == kube::testing::Simulator::End::reached); }

  static json::object config_map(std::string_view ns, std::string_view name, std::string_view value,
                                 json::object labels = {}) {
    return {{"metadata", json::object{{"name", name}, {"namespace", ns}, {"labels", std::move(labels)}}},
            {"data", json::object{{"key", value}}}};
  }
  void create(std::string_view name, std::string_view value, std::string_view ns = "shop") {
    REQUIRE(rome.create(kind, config_map(ns, name, value), actor));
  }
  void set(std::string_view name, std::string_view value) {
    REQUIRE(rome.update(
        {kind, {"shop", std::string(name)}}, [&](json::object& tree) { tree["data"] = json::object{{"key", value}}; },
        actor));
  }
  std::string at_milan(const std::string& name) {
    const auto tree = milan.get(kind, {"shop-rome", name});
    return tree ? std::string(kube::string_at(*tree, {"data", "key"})) : "(none)";
  }
  std::size_t writes() const { return milan.writes().size(); }
  std::size_t events(std::string_view reason) {
    std::size_t count = 0;
    for (const auto& tree : rome.list(kube::resources::events)) count += kube::string_at(*tree, {"reason"}) == reason;
    return count;
  }

  kube::testing::Simulator simulator;
  bool brings_home = true, may_annotate = true;
  std::function<kube::Duration()> home_write = [] { return kube::Duration::zero(); };
  std::shared_ptr<kube::MemoryAccount> account = std::make_shared<kube::MemoryAccount>("milan", 512 << 20, nullptr);
  kube::Random random;
  kube::Metrics metrics;
  kube::testing::FakeApiServer rome{simulator.clock()}, milan{simulator.clock()};
  kube::testing::SimLink to_rome{simulator, rome, "liqo"}, to_milan{simulator, milan, "rome"};
  Rewriting rome_transport{to_rome}, milan_transport{to_milan};
  kube::Api rome_api{rome_transport, simulator.clock(), random, metrics, {.cluster = "rome"}};
  kube::Api milan_api{milan_transport, simulator.clock(), random, metrics, {.cluster = "milan", .account = account}};
  kube::InformerSet home{simulator.executor(), rome_api, metrics};
  kube::EventRecorder recorder{simulator.executor(), rome_api, metrics, "liqo"};
  std::shared_ptr<kube::StoreUse> use =
      std::make_shared<kube::StoreUse>(kube::StoreUse::Limits{64 << 20, 10'000}, metrics, "milan");
  int exceeded = 0;
  kube::StoreBudget stores{use, [this] { ++exceeded; }};
  TwinOwners owners{milan_api, "milan", {simulator.executor(), simulator.clock(), random, metrics}};
  kube::async::TaskGroup group{simulator.executor(), kube::async::TaskGroup::OnFailure::keep_others};
  Reflector reflector;
  std::unique_ptr<kube::async::TaskGroup> term;
};

}  // namespace liqo::controllers
