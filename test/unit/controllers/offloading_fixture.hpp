// Consumer rome and a provider whose part the test plays, for tests of offloaded pods.
#pragma once

#include <doctest/doctest.h>

#include "cluster_fixture.hpp"
#include "core/offloading/provider_pod.hpp"
#include "kube/async/event.hpp"
#include "kube/base/base64.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::testing {

namespace kinds = api::kinds;
namespace resources = kube::resources;

inline const std::string tenant = "liqo-tenant-milan", shop = "shop", twin = "shop-rome";

inline kube::net::Response refusal(std::string_view words, unsigned status = 403) {
  class Text final : public kube::net::Body {
   public:
    explicit Text(std::string text) : text_(std::move(text)) {}
    asio::awaitable<kube::Result<std::string>> read() override { co_return std::exchange(text_, ""); }

   private:
    std::string text_;
  };
  const json::object body{{"kind", "Status"},
                          {"status", "Failure"},
                          {"reason", status == 403 ? "Forbidden" : "InternalError"},
                          {"code", status},
                          {"message", words}};
  return {.head = {.status = static_cast<int>(status), .headers = {{"content-type", "application/json"}}},
          .body = std::make_unique<Text>(json::serialize(body))};
}

/// The message with which the provider's admission refuses a new ShadowPod, "" = it is admitted.
using Admission = std::function<std::string()>;
/// The verb of a request that the provider never answers.
inline constexpr std::string_view hang = "hang";
/// Which requests the provider answers with 500, as when its webhooks are down. It may change the other requests, and
/// their verb to `hang`.
using Outage = std::function<bool(kube::HttpRequest&)>;
/// The message with which the provider forbids a request, "" = it does not.
using Refusal = std::function<std::string(const kube::HttpRequest&)>;

class AdmittingLink final : public PlainLink {
 public:
  AdmittingLink(kube::testing::SimLink& link, const Admission& admit, const Outage& outage, const Refusal& refuse)
      : PlainLink(link), admit_(admit), outage_(outage), refuse_(refuse) {}
  asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest request, kube::Deadline deadline) override {
    if (outage_(request)) co_return refusal("failed calling webhook", 500);
    if (request.verb == hang) {
      kube::async::Event never(co_await asio::this_coro::executor);
      co_await never.wait();
    }
    if (const std::string words = refuse_(request); !words.empty()) co_return refusal(words);
    const bool is_order = request.verb == "create" && request.resource == "shadowpods";
    if (const std::string words = is_order ? admit_() : std::string(); !words.empty()) co_return refusal(words);
    co_return co_await PlainLink::send(std::move(request), deadline);
  }

 private:
  const Admission& admit_;
  const Outage& outage_;
  const Refusal& refuse_;
};

/// Consumer rome, whose namespace "shop" has a twin in milan. Only pods that the test makes there run in milan.
struct Offloading : ClusterFixture {
  /// `home_reads`: see `ClusterFixture::reads`. `prepare` is called before liqod starts with these settings.
  explicit Offloading(std::function<void(kube::HttpRequest&)> home_reads = {}, controllers::Settings settings = {},
                      const std::function<void(Offloading&)>& prepare = {})
      : ClusterFixture("rome"), milan(simulator.clock()), to_milan(simulator, milan, "rome") {
    reads = std::move(home_reads);
    milan.serve(kinds::shadow_pods);
    connect = [this](const std::string&,
                     const kube::Object&) -> kube::Result<std::unique_ptr<controllers::ProviderLink>> {
      return std::make_unique<AdmittingLink>(to_milan, admit, outage, refuse);
    };
    apply(resources::namespaces, kube::Object::make(resources::namespaces, {"", shop}));
    kube::Object secret = kube::Object::make(resources::secrets, {tenant, "kubeconfig"});
    secret.tree()["data"] = json::object{{"kubeconfig", kube::encode_base64("milan")}};
    apply(resources::secrets, secret);
    kube::Object map = kube::Object::make(kinds::namespace_maps, {tenant, "milan"});
    map.set_label(api::labels::remote_cluster_id, "milan");
    map.set_label(api::labels::replication, "true");
    map.set_label(api::labels::replication_destination, "milan");
    map.mutable_spec()["desiredMapping"] = json::object{{shop, twin}};
    apply(kinds::namespace_maps, map);
    map_twin("Accepted");
    kube::Object offloading = kube::Object::make(kinds::namespace_offloadings, {shop, "offloading"});
    offloading.mutable_metadata()["finalizers"] = json::array{json::string(api::finalizers::namespace_offloading)};
    apply(kinds::namespace_offloadings, offloading);
    virtual_node("milan");
    if (prepare) prepare(*this);
    start(std::move(settings));
    REQUIRE(reaches([&] { return has(resources::nodes, {"", "milan"}); }));
  }
  ~Offloading() { stop(); }

  kube::Object virtual_node(std::string_view name, std::string_view left_out = "") {
    kube::Object node = kube::Object::make(kinds::virtual_nodes, {tenant, std::string(name)});
    node.mutable_spec() = json::object{{"clusterID", "milan"},
                                       {"createNode", true},
                                       {"kubeconfigSecretRef", json::object{{"name", "kubeconfig"}}},
                                       {"resourceQuota", json::object{{"hard", json::object{{"cpu", "8"}}}}}};
    if (!left_out.empty())
      node.mutable_spec()["offloadingPatch"] =
          json::object{{"labelsNotReflected", json::array{json::string(left_out)}}};
    return apply(kinds::virtual_nodes, node);
  }
  /// Sets the phase of the twin in the map; "" = the entry is removed.
  void map_twin(std::string_view phase) {
    change(kinds::namespace_maps, {tenant, "milan"}, "status", [&](json::object& next) {
      json::object current;
      if (!phase.empty()) current[shop] = json::object{{"remoteNamespace", twin}, {"phase", phase}};
      next["status"] = json::object{{"currentMapping", std::move(current)}};
    });
  }
  kube::Object create_pod(std::string_view name, std::string_view cpu = "1", std::int64_t grace = 30,
                          std::string_view node = "milan") {
    kube::Object pod = kube::Object::make(resources::pods, {shop, std::string(name)});
    pod.mutable_spec()["nodeName"] = node;
    pod.mutable_spec()["terminationGracePeriodSeconds"] = grace;
    pod.mutable_spec()["containers"] = json::array{json::object{
        {"name", "main"}, {"image", "shop:1"}, {"resources", json::object{{"requests", json::object{{"cpu", cpu}}}}}}};
    return apply(resources::pods, pod);
  }
  /// Acts as the provider: makes the Pod of a ShadowPod, which has a node.
  void make_at_milan(std::string_view name) {
    REQUIRE(reaches([&] { return at_milan(kinds::shadow_pods, name).has_value(); }));
    kube::Object remote = core::forge_provider_pod(*at_milan(kinds::shadow_pods, name));
    remote.mutable_spec()["nodeName"] = "worker";
    REQUIRE(milan.create(resources::pods, remote.tree(), "milan").has_value());
  }
  /// Acts as the provider and its kubelet: makes the Pod of a ShadowPod, which runs.
  void run_at_milan(std::string_view name) {
    make_at_milan(name);
    change_at_milan(name, "status", [](json::object& next) {
      json::object& status = kube::ensure_object(next, "status");
      status["phase"] = "Running";
      status["conditions"] = json::array{json::object{{"type", "Ready"}, {"status", "True"}}};
    });
    REQUIRE(reaches([&] { return kube::string_at(local(name)->status(), {"phase"}) == "Running"; }));
  }
  /// Changes a Pod in milan.
  void change_at_milan(std::string_view name, std::string_view subresource,
                       const std::function<void(json::object&)>& how) {
    (void)milan.update({resources::pods, {twin, std::string(name)}, subresource}, how, "milan");
  }
  std::optional<kube::Object> local(std::string_view name) { return find(resources::pods, {shop, std::string(name)}); }
  std::optional<kube::Object> at_milan(const kube::Resource& resource, std::string_view name) {
    const auto tree = milan.get(resource, {twin, std::string(name)});
    return tree ? std::optional(kube::Object(*tree)) : std::nullopt;
  }
  std::string condition(std::string_view name, std::string_view type, std::string_view field) {
    const auto pod = local(name);
    if (pod)
      for (const json::value& entry : kube::array_at(pod->status(), {"conditions"}))
        if (kube::string_at(entry, {"type"}) == type) return std::string(kube::string_at(entry, {field}));
    return "(none)";
  }

  kube::testing::FakeApiServer milan;
  kube::testing::SimLink to_milan;
  Admission admit = [] { return std::string(); };
  Outage outage = [](kube::HttpRequest&) { return false; };
  Refusal refuse = [](const kube::HttpRequest&) { return std::string(); };
};

}  // namespace liqo::testing
