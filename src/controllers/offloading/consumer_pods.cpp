#include "controllers/offloading/consumer_pods.hpp"

#include "controllers/common/scopes.hpp"
#include "core/namespaces/belonging.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {
namespace {

namespace json = kube::json;
namespace labels = api::labels;
using api::annotations::original_name;

constexpr std::string_view by_consumer = "twins";

/// Indexes a twin namespace by its consumer; other namespaces have no value.
void index_twin(const kube::Object& ns, std::vector<std::string>& values) {
  if (!ns.annotation(original_name).empty()) values.emplace_back(core::consumer_of_twin(ns));
}

std::string address_of(const kube::Object& node) {
  for (const json::value& address : kube::array_at(node.status(), {"addresses"}))
    if (kube::string_at(address, {"type"}) == "InternalIP") return std::string(kube::string_at(address, {"address"}));
  return "";
}

std::uint16_t port_of(const kube::Object& node) {
  const json::value* port = kube::find(node.status(), {"daemonEndpoints", "kubeletEndpoint", "Port"});
  const std::int64_t* number = port ? port->if_int64() : nullptr;
  return number && *number > 0 && *number <= 65535 ? static_cast<std::uint16_t>(*number) : 0;
}

}  // namespace

ConsumerPods::ConsumerPods(kube::InformerSet& home)
    : pods_(home.acquire(scope_of_consumer_pods())),
      namespaces_(home.acquire({.resource = kube::resources::namespaces})),
      nodes_(home.acquire(scope_of_machines())) {
  namespaces_->add_index(std::string(by_consumer), index_twin);
  pods_.follow([this](const kube::Change& pod) { take(pod); });
}

void ConsumerPods::take(const kube::Change& pod) {
  if (const auto before = places_.find(pod.key); before != places_.end()) {
    const auto consumer = pods_of_.find(before->second.consumer);
    const auto node = consumer->second.find(before->second.node);
    node->second.erase(pod.key);
    if (node->second.empty()) consumer->second.erase(node);
    if (consumer->second.empty()) pods_of_.erase(consumer);
    places_.erase(before);
  }
  if (!pod.now) return;
  Place place{.consumer = std::string(pod.now->label(labels::reflection_origin)),
              .node = std::string(kube::string_at(pod.now->spec(), {"nodeName"}))};
  if (place.consumer.empty() || place.node.empty()) return;
  pods_of_[place.consumer][place.node].insert(pod.key);
  places_.emplace(pod.key, std::move(place));
}

std::vector<core::NodeView> ConsumerPods::nodes_of(std::string_view consumer) const {
  std::vector<core::NodeView> views;
  const auto pods = pods_of_.find(consumer);
  if (pods == pods_of_.end()) return views;
  std::map<std::string, std::string, std::less<>> originals;
  for (const kube::Object& twin : namespaces_->objects(by_consumer, consumer))
    originals.emplace(twin.name(), twin.annotation(original_name));
  for (const auto& [name, keys] : pods->second) {
    const auto node = nodes_->find({"", name});
    if (!node || !kube::has_condition(*node, "Ready")) continue;
    core::NodeView view{.name = name, .address = address_of(*node), .port = port_of(*node), .twins = {}};
    if (view.address.empty() || view.port == 0) continue;
    for (const kube::ObjectKey& key : keys) {
      const auto original = originals.find(key.ns);
      if (original == originals.end()) continue;
      core::TwinView& twin = view.twins[key.ns];
      twin.original = original->second;
      twin.pods.insert(key.name);
    }
    if (!view.twins.empty()) views.push_back(std::move(view));
  }
  return views;
}

}  // namespace liqo::controllers
