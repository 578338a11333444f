// Plans the writes to a Node whose VirtualNode or provider has changed.
#include <algorithm>

#include "core/common/declared_features.hpp"
#include "core/common/difference.hpp"
#include "core/common/gist.hpp"
#include "core/nodes/wanted_node.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// The annotations in which the Go version keeps what it has applied. They are read once, when a Node is taken over,
/// and then removed.
constexpr std::string_view go_applied_metadata = "virtual-kubelet.io/last-applied-object-meta";
constexpr std::string_view go_applied_status = "virtual-kubelet.io/last-applied-node-status";

json::array keys_of(const json::object& entries) {
  json::array keys;
  for (const auto& [key, value] : entries) keys.push_back(json::value(key));
  return keys;
}

std::string taint_name(const json::value& taint) {
  return std::string(kube::string_at(taint, {"key"})) + ":" + std::string(kube::string_at(taint, {"effect"}));
}

bool contains(const json::array& names, std::string_view name) {
  return std::ranges::any_of(names,
                             [&](const json::value& entry) { return entry.is_string() && entry.get_string() == name; });
}

/// The taints of others together with the wanted ones; nullopt if the Node has just these.
std::optional<json::array> taints_patch(const json::array& live, const json::array& wanted,
                                        const json::array& applied) {
  json::array taints;
  bool changed = false;
  for (const json::value& entry : live) {
    const json::value* wish = find_taint(wanted, kube::string_at(entry, {"key"}), kube::string_at(entry, {"effect"}));
    if (!wish && contains(applied, taint_name(entry))) {
      changed = true;
      continue;
    }
    if (wish && kube::string_at(*wish, {"value"}) != kube::string_at(entry, {"value"})) {
      changed = true;
      taints.push_back(*wish);
      continue;
    }
    taints.push_back(entry);
  }
  for (const json::value& wish : wanted)
    if (!find_taint(live, kube::string_at(wish, {"key"}), kube::string_at(wish, {"effect"}))) {
      changed = true;
      taints.push_back(wish);
    }
  if (!changed) return std::nullopt;
  return taints;
}

std::optional<json::object> metadata_patch(const kube::Object& node, const NodeSources& of) {
  const AppliedKeys applied = read_applied(node);
  const json::object labels = node_labels(of.virtual_node, of.ctx);
  json::object annotations = node_annotations(of.virtual_node, of.ctx);
  const json::array taints = node_taints(of.virtual_node, of.health);
  const std::string entries = applied_entries(labels, annotations, taints);
  annotations[api::annotations::applied_node] = entries;

  const auto was_applied = [](const json::array& keys) {
    return [&keys](std::string_view key) { return contains(keys, key); };
  };
  json::object label_changes = changed_entries(node.labels(), labels, was_applied(applied.labels));
  json::object annotation_changes = changed_entries(node.annotations(), annotations, was_applied(applied.annotations));
  for (std::string_view key : {go_applied_metadata, go_applied_status})
    if (node.has_annotation(key)) annotation_changes[key] = nullptr;
  auto taint_changes = taints_patch(kube::array_at(node.spec(), {"taints"}), taints, applied.taints);
  // providerID can be set once and never changed.
  const bool unnamed = kube::string_at(node.spec(), {"providerID"}).empty();
  if (label_changes.empty() && annotation_changes.empty() && !taint_changes && !unnamed) return std::nullopt;

  // Others change the list of taints as well, so the version makes the patch fail if the Node has changed since it was
  // read.
  json::object metadata{{"uid", node.uid()}, {"resourceVersion", node.resource_version()}};
  if (!label_changes.empty()) metadata["labels"] = std::move(label_changes);
  if (!annotation_changes.empty()) metadata["annotations"] = std::move(annotation_changes);
  json::object patch{{"metadata", std::move(metadata)}};
  if (taint_changes) kube::ensure_object(patch, "spec")["taints"] = std::move(*taint_changes);
  if (unnamed) kube::ensure_object(patch, "spec")["providerID"] = provider_id(of.virtual_node);
  return patch;
}

json::object resources_patch(const json::object& live, const json::object& wanted) {
  json::object patch;
  for (const auto& [name, value] : wanted) {
    const json::value* have = live.if_contains(name);
    if (!have || !is_same_amount(*have, value)) patch[name] = value;
  }
  for (const auto& [name, value] : live)
    if (!wanted.contains(name)) patch[name] = nullptr;
  return patch;
}

/// Whether the conditions are the same, apart from times and from the details in the message of Ready.
bool says_the_same(const json::object& have, const json::object& wanted) {
  for (std::string_view key : {"status", "reason"})
    if (kube::string_at(have, {key}) != kube::string_at(wanted, {key})) return false;
  const std::string_view said = kube::string_at(have, {"message"}),
                         wanted_message = kube::string_at(wanted, {"message"});
  const bool has_details = kube::string_at(wanted, {"type"}) == "Ready";
  return has_details ? gist(said) == gist(wanted_message) : said == wanted_message;
}

bool is_due(const json::object& condition, kube::WallTime now, std::chrono::seconds heartbeat) {
  const auto last = kube::parse_time(kube::string_at(condition, {"lastHeartbeatTime"}));
  return !last || now - *last >= heartbeat || *last > now + heartbeat;
}

struct ConditionsPatch {
  json::array entries;
  bool worth_writing = false;  ///< whether there is more than heartbeats that are not due
};

/// Heartbeats of all conditions go into one write.
ConditionsPatch conditions_patch(const json::object& live, const json::array& wanted, kube::WallTime now,
                                 std::chrono::seconds heartbeat) {
  ConditionsPatch patch;
  for (const json::value& entry : wanted) {
    const json::object& wish = entry.get_object();
    const json::object* have = kube::find_condition(live, kube::string_at(entry, {"type"}));
    if (!have || !says_the_same(*have, wish)) {
      patch.worth_writing = true;
      json::object change = wish;
      if (have && kube::string_at(*have, {"status"}) == kube::string_at(wish, {"status"}))
        change.erase("lastTransitionTime");
      patch.entries.push_back(std::move(change));
      continue;
    }
    if (is_due(*have, now, heartbeat)) patch.worth_writing = true;
    patch.entries.push_back(json::object{{"type", kube::string_at(entry, {"type"})},
                                         {"lastHeartbeatTime", kube::string_at(entry, {"lastHeartbeatTime"})}});
  }
  // These conditions are removed when they do not hold. The reason distinguishes those of liqod from those of others.
  for (const auto& [type, reason] :
       {std::pair<std::string_view, std::string_view>{"NetworkUnavailable", "LiqoNetworking"},
        {api::custom_resources_condition, "CustomResources"}}) {
    const json::object* had = kube::find_condition(live, type);
    if (!had || kube::find_condition(wanted, type) || !kube::string_at(*had, {"reason"}).starts_with(reason)) continue;
    patch.worth_writing = true;
    patch.entries.push_back(json::object{{"$patch", "delete"}, {"type", type}});
  }
  return patch;
}

struct FeaturesPatch {
  std::optional<json::value> value;
  bool worth_writing = false;  ///< whether it cannot wait for the next heartbeat
};

/// A server without the feature gate NodeDeclaredFeatures (before Kubernetes 1.36 by default) leaves the field out of
/// what it stores, so that a difference alone must not lead to a write. A list in the status shows that the server
/// keeps it. A label that the Node lacks shows that its feature has not been written yet. Any other difference goes
/// with the next heartbeat: then home has been updated meanwhile, a write of the status has failed behind that of the
/// labels, or somebody else has set the label. Labels that are not wanted may be somebody else's and stay for good, so
/// that they decide nothing.
FeaturesPatch features_patch(const kube::Object& node, const json::array& wanted) {
  const json::array& shown = kube::array_at(node.status(), {"declaredFeatures"});
  if (shown == wanted) return {};
  const bool is_new = std::ranges::any_of(wanted, [&node](const json::value& feature) {
    const std::string key = feature_key(feature.get_string());
    return !is_feature_label(key, node.label(key));
  });
  return {.value = wanted.empty() ? json::value(nullptr) : json::value(wanted),
          .worth_writing = !shown.empty() || is_new};
}

/// A process or a session that has just started has not reached the provider yet. What an earlier one wrote of it
/// stays.
void leave_unknown(json::object& wanted, const json::object& live, const ProviderHealth& health) {
  if (json::value* info = wanted.if_contains("nodeInfo"); info && health.version.empty())
    info->get_object().erase("kubeletVersion");
  if (health.probed || !health.refusal.empty() || !kube::find_condition(live, "Ready")) return;
  json::array& conditions = wanted.at("conditions").as_array();
  const auto ready = std::ranges::find_if(
      conditions, [](const json::value& entry) { return kube::string_at(entry, {"type"}) == "Ready"; });
  if (ready != conditions.end()) conditions.erase(ready);
}

std::optional<json::object> status_patch(const kube::Object& node, const NodeSources& of, kube::WallTime now,
                                         std::chrono::seconds heartbeat) {
  const json::object& live = node.status();
  json::object wanted = node_status(of, now);
  leave_unknown(wanted, live, of.health);
  json::object patch;
  for (std::string_view key : {"capacity", "allocatable"})
    if (json::object changes = resources_patch(kube::object_at(live, {key}), kube::object_at(wanted, {key}));
        !changes.empty())
      patch[key] = std::move(changes);
  if (json::object changes =
          changed_entries(kube::object_at(live, {"nodeInfo"}), kube::object_at(wanted, {"nodeInfo"}));
      !changes.empty())
    patch["nodeInfo"] = std::move(changes);
  if (kube::int_at(node.tree(), {"status", "daemonEndpoints", "kubeletEndpoint", "Port"}) != of.ctx.kubelet_port)
    patch["daemonEndpoints"] = json::object{{"kubeletEndpoint", json::object{{"Port", of.ctx.kubelet_port}}}};
  // The patch merges addresses by type, and there is one type only, so this replaces the list.
  if (const json::array& addresses = kube::array_at(wanted, {"addresses"});
      !addresses.empty() && kube::array_at(live, {"addresses"}) != addresses)
    patch["addresses"] = addresses;
  if (const json::array& images = kube::array_at(wanted, {"images"}); images != kube::array_at(live, {"images"}))
    patch["images"] = images.empty() ? json::value(nullptr) : json::value(images);

  ConditionsPatch conditions = conditions_patch(live, kube::array_at(wanted, {"conditions"}), now, heartbeat);
  FeaturesPatch features = features_patch(node, kube::array_at(wanted, {"declaredFeatures"}));
  if (patch.empty() && !conditions.worth_writing && !features.worth_writing) return std::nullopt;
  if (features.value) patch["declaredFeatures"] = std::move(*features.value);
  patch["conditions"] = std::move(conditions.entries);
  return json::object{{"metadata", json::object{{"uid", node.uid()}}}, {"status", std::move(patch)}};
}

}  // namespace

std::string why_foreign(const kube::Object& node) {
  const std::string name(node.name());
  // A virtual node that lost its label is still known by its annotation.
  if (node.label(api::labels::type) != api::labels::type_virtual_node &&
      !node.has_annotation(api::annotations::applied_node))
    return "a node named " + name +
           " exists and is no virtual node: delete it, or create the VirtualNode under another name";
  constexpr std::pair<std::string_view, std::string_view> marks[] = {{"status", "machineID"}, {"status", "bootID"}};
  for (const auto& [part, mark] : marks)
    if (!kube::string_at(node.tree(), {part, "nodeInfo", mark}).empty())
      return "a machine has registered as node " + name + " (its " + std::string(mark) +
             " is set): stop its kubelet or give it another name, then delete the Node, which is made anew";
  const std::string_view provider = kube::string_at(node.spec(), {"providerID"});
  if (!provider.empty() && !provider.starts_with(provider_scheme))
    return "the Node " + name + " has the providerID of a machine: delete the Node, which is made anew";
  return {};
}

AppliedKeys read_applied(const kube::Object& node) {
  if (auto ours = kube::parse_json(node.annotation(api::annotations::applied_node)))
    return {kube::array_at(*ours, {"labels"}), kube::array_at(*ours, {"annotations"}),
            kube::array_at(*ours, {"taints"})};
  if (auto theirs = kube::parse_json(node.annotation(go_applied_metadata)))
    return {keys_of(kube::object_at(*theirs, {"labels"})), keys_of(kube::object_at(*theirs, {"annotations"})), {}};
  return {};
}

std::string applied_entries(const json::object& labels, const json::object& annotations, const json::array& taints) {
  json::array names;
  for (const json::value& taint : taints) names.push_back(json::value(taint_name(taint)));
  return json::serialize(
      json::object{{"labels", keys_of(labels)}, {"annotations", keys_of(annotations)}, {"taints", std::move(names)}});
}

NodePlan plan_node(const kube::Object& node, const NodeSources& of, kube::WallTime now,
                   std::chrono::seconds heartbeat) {
  if (std::string why = why_foreign(node); !why.empty()) return node_action::Refuse{std::move(why)};
  if (node.is_deleting()) return node_action::Update();
  return node_action::Update{.metadata = metadata_patch(node, of), .status = status_patch(node, of, now, heartbeat)};
}

}  // namespace liqo::core
