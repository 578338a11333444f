#include "core/policy/orders.hpp"

#include "core/common/json_values.hpp"
#include "core/policy/order_table.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// The longest part of a key that is shown as left out.
constexpr std::size_t max_shown_key = 100;

/// Takes the keys that `goes` names out of one map; returns them.
std::vector<std::string> take_out(json::object& metadata, Metadata part, const auto& goes) {
  std::vector<std::string> keys;
  json::object* entries = object_in(metadata, part == Metadata::labels ? "labels" : "annotations");
  if (!entries) return keys;
  for (const auto& [key, value] : *entries)
    if (goes(std::string_view(key))) keys.emplace_back(key);
  for (const std::string& key : keys) entries->erase(key);
  return keys;
}

/// Takes out of one map of a template what is an order.
void leave_out(json::object& metadata, Metadata part, const PodPolicy& policy, std::string_view volume,
               std::vector<std::string>& left_out) {
  const auto [listed, policy_key] = allowed_keys(TwinKind::claim, part, policy);
  const auto is_order = [&](std::string_view key) {
    return !lists_key(listed, key) && !why_refused(TwinKind::claim, part, key, policy).empty();
  };
  for (const std::string& key : take_out(metadata, part, is_order))
    left_out.push_back(std::string(part == Metadata::labels ? "label " : "annotation ") + key.substr(0, max_shown_key) +
                       " of the claim of volume " + std::string(volume));
}

}  // namespace

std::optional<TwinKind> twin_kind(std::string_view plural) {
  if (plural == "secrets") return TwinKind::secret;
  if (plural == "configmaps") return TwinKind::config_map;
  if (plural == "persistentvolumeclaims") return TwinKind::claim;
  if (plural == "services") return TwinKind::service;
  if (plural == "ingresses") return TwinKind::ingress;
  return std::nullopt;
}

void leave_at_home(json::object& metadata, TwinKind kind, const std::vector<std::string>& kept) {
  if (kind == TwinKind::service || kind == TwinKind::ingress) return;
  for (const Metadata part : {Metadata::labels, Metadata::annotations})
    take_out(metadata, part,
             [&](std::string_view key) { return !who_obeys(kind, part, key).empty() && !lists_key(kept, key); });
}

std::vector<std::string> take_out_notes(json::object& metadata) {
  return take_out(metadata, Metadata::annotations, is_note);
}

std::vector<std::string> leave_out_orders(json::object& pod_spec, const PodPolicy& policy) {
  std::vector<std::string> left_out;
  for_each_object(pod_spec, "volumes", [&](json::object& volume) {
    json::object* ephemeral = object_in(volume, "ephemeral");
    json::object* claim = ephemeral ? object_in(*ephemeral, "volumeClaimTemplate") : nullptr;
    json::object* metadata = claim ? object_in(*claim, "metadata") : nullptr;
    if (!metadata) return;
    const std::string name(kube::string_at(volume, {"name"}));
    leave_out(*metadata, Metadata::labels, policy, name, left_out);
    leave_out(*metadata, Metadata::annotations, policy, name, left_out);
  });
  return left_out;
}

}  // namespace liqo::core
