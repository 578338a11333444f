#include "core/nodes/node.hpp"

#include <algorithm>
#include <cctype>

#include "core/common/declared_features.hpp"
#include "core/nodes/wanted_node.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/quantity.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

namespace labels = api::labels;

/// A condition of a virtual node, and whether its good state holds.
struct NodeCondition {
  std::string_view type;
  bool holds;
  std::string_view reason_true, reason_false;
  std::string message_true, message_false;
};

/// The most bytes of the provider's words in the conditions of the Node.
constexpr std::size_t max_words = 500;
/// The most bytes of the words about custom resources there.
constexpr std::size_t max_custom_words = 1000;

bool has_amount(const json::object& resources, std::string_view name) {
  const json::value* value = resources.if_contains(name);
  if (!value) return false;
  const auto amount = kube::Quantity::from_json(*value);
  return amount && amount->sign() > 0;
}

/// What the provider offers of cpu and memory.
enum class Offer {
  some,
  nothing_now,  ///< the slice is granted 0, which says nothing of the provider's health
  none,         ///< nothing was ever granted
};

Offer offer_of(const api::VirtualNode& virtual_node, const json::object& resources) {
  if (has_amount(resources, "cpu") && has_amount(resources, "memory")) return Offer::some;
  // A grant that falls to 0 ends no pod at the provider. Kubernetes would delete the pods of a Node that is not Ready,
  // so it stays Ready and is closed instead (`Closed::nothing_granted`).
  const bool is_of_slice = virtual_node.object().has_label(labels::resource_slice_name);
  return is_of_slice && resources.contains("cpu") && resources.contains("memory") ? Offer::nothing_now : Offer::none;
}

std::string why_not_ready(Offer offer, const ProviderHealth& health) {
  if (!health.refusal.empty()) return kube::one_line(health.refusal, max_words);
  if (!health.probed) return "the provider has not been reached yet";
  if (health.failed_probes >= health.failure_threshold)
    return "the provider does not answer: " + kube::one_line(health.last_error, max_words);
  if (health.network == ProviderHealth::Network::down) return "the network between the clusters is not established";
  if (offer == Offer::none) return "the provider offers no CPU or no memory";
  return {};
}

json::object condition_of(const NodeCondition& condition, const std::string& now) {
  return {{"type", condition.type},
          {"status", condition.holds ? "True" : "False"},
          {"reason", condition.holds ? condition.reason_true : condition.reason_false},
          {"message", condition.holds ? condition.message_true : condition.message_false},
          {"lastHeartbeatTime", now},
          {"lastTransitionTime", now}};
}

/// The features that a Node with these labels declares (`status.declaredFeatures`).
json::array node_features(const json::object& labels) {
  json::array features;
  for (const std::string& feature : features_of(labels)) features.emplace_back(feature);
  return features;
}

}  // namespace

ProviderHealth::Network network_state(const kube::Object* foreign_cluster) {
  using Network = ProviderHealth::Network;
  if (!foreign_cluster) return Network::unchecked;
  const json::object& module = kube::object_at(foreign_cluster->status(), {"modules", "networking"});
  if (!kube::bool_at(foreign_cluster->tree(), {"status", "modules", "networking", "enabled"}))
    return Network::unchecked;
  const json::object* connection = kube::find_condition(module, "NetworkConnectionStatus");
  const std::string_view says = connection ? kube::string_at(*connection, {"status"}) : "";
  // The CRD's default "None" means that nobody has checked.
  if (says.empty() || says == "None") return Network::unchecked;
  return says == "Established" ? Network::up : Network::down;
}

std::string provider_id(const api::VirtualNode& virtual_node) {
  return std::string(provider_scheme).append(virtual_node.cluster_id()).append("/").append(virtual_node.name());
}

json::object node_labels(const api::VirtualNode& virtual_node, const NodeContext& ctx) {
  json::object wanted{{labels::type, labels::type_virtual_node},
                      {labels::remote_cluster_id, virtual_node.cluster_id()},
                      {"type", "virtual-kubelet"},
                      {"kubernetes.io/role", "agent"},
                      {"kubernetes.io/hostname", virtual_node.name()},
                      {"kubernetes.io/os", "linux"},
                      {"kubernetes.io/arch", ctx.architecture},
                      {"node.kubernetes.io/exclude-from-external-load-balancers", "true"},
                      {"alpha.service-controller.kubernetes.io/exclude-balancer", "true"}};
  for (const auto& [key, value] : ctx.extra_labels) wanted[key] = value;
  for (const auto& [key, value] : virtual_node.labels())
    if (value.is_string()) wanted[key] = value;
  // The labels by which liqod finds the node are not for others to set.
  wanted[labels::type] = labels::type_virtual_node;
  wanted[labels::remote_cluster_id] = virtual_node.cluster_id();
  wanted[labels::storage_available] = virtual_node.storage_classes().empty() ? "false" : "true";
  return wanted;
}

json::object node_annotations(const api::VirtualNode& virtual_node, const NodeContext& ctx) {
  json::object wanted;
  for (const auto& [key, value] : ctx.extra_annotations) wanted[key] = value;
  for (const auto& [key, value] : virtual_node.annotations())
    if (value.is_string()) wanted[key] = value;
  return wanted;
}

json::array node_taints(const api::VirtualNode& virtual_node, const ProviderHealth& health) {
  json::array taints{json::object{{"key", api::virtual_node_taint}, {"value", "true"}, {"effect", "NoExecute"}}};
  if (health.closed != Closed::no)
    taints.push_back(
        json::object{{"key", api::closed_taint}, {"value", closed_word(health.closed)}, {"effect", "NoSchedule"}});
  for (const json::value& entry : virtual_node.taints()) {
    const std::string_view key = kube::string_at(entry, {"key"});
    const std::string_view effect = kube::string_at(entry, {"effect"});
    if (key.empty() || effect.empty() || find_taint(taints, key, effect)) continue;
    json::object taint{{"key", key}, {"effect", effect}};
    if (const std::string_view value = kube::string_at(entry, {"value"}); !value.empty()) taint["value"] = value;
    taints.push_back(std::move(taint));
  }
  return taints;
}

const json::value* find_taint(const json::array& taints, std::string_view key, std::string_view effect) {
  for (const json::value& taint : taints)
    if (kube::string_at(taint, {"key"}) == key && kube::string_at(taint, {"effect"}) == effect) return &taint;
  return nullptr;
}

/// The pods of a Node whose grant does not bound them, as many as kubelets take by default: on a Node without a number
/// of pods the scheduler places none.
constexpr std::string_view unbounded_pods = "110";

json::object node_resources(const api::VirtualNode& virtual_node) {
  json::object resources;
  for (const auto& [name, value] : virtual_node.hard()) {
    // The API server refuses the whole status for one amount that it cannot read.
    const auto amount = kube::Quantity::from_json(value);
    if (amount && amount->sign() >= 0) resources[name] = amount->text();
  }
  if (!resources.empty() && !virtual_node.hard().contains("pods")) resources["pods"] = unbounded_pods;
  return resources;
}

json::array node_conditions(const api::VirtualNode& virtual_node, const json::object& resources,
                            const ProviderHealth& health, kube::WallTime now) {
  using Network = ProviderHealth::Network;
  const Offer offer = offer_of(virtual_node, resources);
  const bool enough = offer != Offer::none;
  const std::string nothing_now =
      "the provider answers, and grants no CPU or no memory at present: pods that run stay, and it gets no new ones";
  const std::string fine =
      offer == Offer::nothing_now ? nothing_now : std::string("the provider answers and offers resources");
  const std::string plenty =
      offer == Offer::nothing_now ? nothing_now : std::string("the provider offers CPU and memory");
  const std::string none = "the provider offers no CPU or no memory";
  const std::string why = why_not_ready(offer, health);
  const std::string time = kube::format_time(now);
  json::array conditions;
  conditions.push_back(condition_of({"Ready", why.empty(), "KubeletReady", "KubeletNotReady", fine, why}, time));
  conditions.push_back(condition_of(
      {"MemoryPressure", !enough, "RemoteClusterHasMemoryPressure", "RemoteClusterHasSufficientMemory", none, plenty},
      time));
  conditions.push_back(condition_of(
      {"DiskPressure", !enough, "RemoteClusterHasDiskPressure", "RemoteClusterHasNoDiskPressure", none, plenty}, time));
  conditions.push_back(condition_of(
      {"PIDPressure", !enough, "RemoteClusterHasPIDPressure", "RemoteClusterHasNoPIDPressure", none, plenty}, time));
  if (health.network != Network::unchecked)
    conditions.push_back(condition_of(
        {"NetworkUnavailable", health.network == Network::down, "LiqoNetworkingDown", "LiqoNetworkingUp",
         "the network between the clusters is not established", "the network between the clusters is established"},
        time));
  if (health.custom) {
    using Reflected = CustomState::Reflected;
    const bool is_known = health.custom->reflected != Reflected::unknown;
    json::object condition =
        condition_of({api::custom_resources_condition, health.custom->reflected == Reflected::yes,
                      api::reasons::custom_reflected, api::reasons::custom_not_reflected, health.custom->message,
                      std::string(kube::cut_text(health.custom->message, max_custom_words))},
                     time);
    if (!is_known) condition["status"] = "Unknown";
    if (!is_known) condition["reason"] = api::reasons::custom_unknown;
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

json::object node_status(const NodeSources& of, kube::WallTime now) {
  const auto& [virtual_node, health, ctx] = of;
  json::object resources = node_resources(virtual_node);
  json::object status;
  status["conditions"] = node_conditions(virtual_node, resources, health, now);
  // The same values as the labels that pods are scheduled by.
  const json::object marks = node_labels(virtual_node, ctx);
  status["nodeInfo"] = json::object{{"kubeletVersion", health.version.empty() ? ctx.kubelet_version : health.version},
                                    {"architecture", marks.at("kubernetes.io/arch")},
                                    {"operatingSystem", marks.at("kubernetes.io/os")}};
  if (!ctx.node_ip.empty())
    status["addresses"] = json::array{json::object{{"type", "InternalIP"}, {"address", ctx.node_ip}}};
  status["daemonEndpoints"] = json::object{{"kubeletEndpoint", json::object{{"Port", ctx.kubelet_port}}}};
  if (!virtual_node.images().empty()) status["images"] = virtual_node.images();
  if (json::array features = node_features(marks); !features.empty()) status["declaredFeatures"] = std::move(features);
  status["allocatable"] = resources;
  status["capacity"] = std::move(resources);
  return status;
}

std::string server_version(std::string_view answer) {
  constexpr std::size_t max_version = 63, max_answer = 16 << 10;
  // It is parsed without an account for its memory.
  if (answer.size() > max_answer) return {};
  const auto document = kube::parse_json(answer);
  if (!document) return {};
  const std::string_view version = kube::string_at(*document, {"gitVersion"});
  const bool is_one = version.size() > 1 && version.size() <= max_version && version[0] == 'v' &&
                      std::ranges::all_of(version, [](unsigned char c) {
                        return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '+';
                      });
  return is_one ? std::string(version) : std::string();
}

std::string unready_reason(const kube::Object& node) {
  const json::object* ready = kube::find_condition(node.status(), "Ready");
  if (!ready) return "its status is not written yet";
  return kube::string_at(*ready, {"status"}) == "True" ? "" : std::string(kube::string_at(*ready, {"message"}));
}

kube::Object forge_node(const NodeSources& of, kube::WallTime now) {
  const auto& [virtual_node, health, ctx] = of;
  kube::Object node = kube::Object::make(kube::resources::nodes, {"", std::string(virtual_node.name())});
  json::object& metadata = node.mutable_metadata();
  json::object wanted_labels = node_labels(virtual_node, ctx);
  json::object annotations = node_annotations(virtual_node, ctx);
  json::array taints = node_taints(virtual_node, health);
  const std::string applied = applied_entries(wanted_labels, annotations, taints);
  annotations[api::annotations::applied_node] = applied;
  metadata["labels"] = std::move(wanted_labels);
  metadata["annotations"] = std::move(annotations);
  node.mutable_spec()["taints"] = std::move(taints);
  node.mutable_spec()["providerID"] = provider_id(virtual_node);
  node.mutable_status() = node_status(of, now);
  return node;
}

}  // namespace liqo::core
