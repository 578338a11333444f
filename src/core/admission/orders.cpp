#include "liqo/core/admission/orders.hpp"

#include "core/admission/key_table.hpp"
#include "core/admission/order_table.hpp"
#include "core/json_values.hpp"
#include "liqo/core/admission/tenant_rules.hpp"
#include "liqo/core/names.hpp"

namespace liqo::core::admission {
namespace {

/// Kubernetes takes no longer keys, so two different keys never make the same finding.
constexpr std::size_t max_key = 317;
/// The longest part of a key that is shown as left out.
constexpr std::size_t max_shown_key = 100;

/// The list of the policy that allows keys of a part, and what the policy calls it.
struct Allowed {
  const std::vector<std::string>& keys;
  std::string_view policy_key;
};

Allowed allowed(TwinKind kind, Metadata part, const PodPolicy& policy) {
  if (part == Metadata::labels) return {policy.object_labels, "objectLabels"};
  if (kind == TwinKind::service) return {policy.service_annotations, "serviceAnnotations"};
  if (kind == TwinKind::ingress) return {policy.ingress_annotations, "ingressAnnotations"};
  return {policy.object_annotations, "objectAnnotations"};
}

/// What is wrong with a key that the policy does not list; "" = nothing.
std::string reason(TwinKind kind, Metadata part, std::string_view key, const PodPolicy& policy) {
  if (const std::string_view obeyed_by = who_obeys(kind, part, key); !obeyed_by.empty())
    return "is an order to " + std::string(obeyed_by);
  if (policy.strict_metadata && !is_common_annotation(key) && !is_below(domain_of(key), "liqo.io"))
    return "is not known here, and strictMetadata of the policy refuses what is unknown";
  return {};
}

class Search {
 public:
  Search(TwinKind kind, const PodPolicy& policy, std::size_t max_found)
      : kind_(kind), policy_(policy), max_found_(max_found) {}

  /// Looks at what `entries` have and `had` has not with the same value.
  void look_at(Metadata part, const json::object& entries, const json::object& had) {
    const auto [listed, policy_key] = allowed(kind_, part, policy_);
    for (const auto& [key, value] : entries) {
      if (found.size() >= max_found_) return;
      const json::value* before = had.if_contains(key);
      if ((before && *before == value) || lists_key(listed, key)) continue;
      std::string why = reason(kind_, part, key, policy_);
      if (why.empty()) continue;
      const std::string_view what = part == Metadata::labels ? "label " : "annotation ";
      found.push_back({std::string(what) + std::string(std::string_view(key).substr(0, max_key)),
                       std::move(why) + "; the policy key " + std::string(policy_key) + " would allow it"});
    }
  }

  std::vector<Finding> found;

 private:
  TwinKind kind_;
  const PodPolicy& policy_;
  std::size_t max_found_;
};

/// Takes the keys that `goes` names out of one map; answers them.
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
  const auto [listed, policy_key] = allowed(TwinKind::claim, part, policy);
  const auto is_order = [&](std::string_view key) {
    return !lists_key(listed, key) && !reason(TwinKind::claim, part, key, policy).empty();
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

std::vector<Finding> find_orders(const Request& request, TwinKind kind, const PodPolicy& policy,
                                 std::size_t max_found) {
  Search search(kind, policy, max_found);
  search.look_at(Metadata::labels, request.object.labels(), request.old_object.labels());
  search.look_at(Metadata::annotations, request.object.annotations(), request.old_object.annotations());
  return std::move(search.found);
}

Answer check_orders(const Request& request, std::string_view consumer, TwinKind kind, const PodPolicy& policy) {
  if (!request.writes_object() || !is_of_consumer(request.user, consumer)) return Answer::allow();
  const std::vector<Finding> found = find_orders(request, kind, policy, max_findings);
  if (found.empty()) return Answer::allow();
  const std::string_view name = kind == TwinKind::secret ? "Secret" : "ConfigMap";
  return Answer::deny(known_as(request, name) + " may not be in this cluster: " + describe(found));
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

}  // namespace liqo::core::admission
