// The policy of a provider for the slices of its consumers, read from flags and a ConfigMap.
// Tested by test/unit/core/slices/share_test.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/common/resources.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// A class of Ingresses or load balancers that is offered.
struct OfferedClass {
  std::string name;
  bool is_default = false;
  bool operator==(const OfferedClass&) const = default;
};

/// Set by flags; keys of a ConfigMap override single ones while the process runs.
struct SlicePolicy {
  bool default_class_enabled = true;
  /// Unset = as `default_class_enabled`, so that a provider which turns the default class off in favour of its own
  /// class leaves no other way around that.
  std::optional<bool> share_class_enabled;
  /// Amounts for resources that a request of class "default" does not name, at the time it is negotiated.
  Resources defaults;
  int sharing_percentage = 90;              ///< 0 to 100, of what is free, for class "share"
  std::string limits_enforcement = "None";  ///< of every Quota: "None", "Soft", "Hard"
  bool storage_enabled = false;
  std::string storage_class;  ///< the consumers' default class; "" = the cluster's
  std::vector<OfferedClass> ingress_classes, load_balancer_classes;
  std::map<std::string, std::string> cluster_labels;  ///< for the consumers' nodes

  bool is_share_enabled() const { return share_class_enabled.value_or(default_class_enabled); }
};

/// A policy as it could be read.
struct ReadPolicy : SlicePolicy {
  /// Settings that have never been readable since this process began, and why: what stands in their fields here is not
  /// what the operator wants, so nothing that depends on them is decided.
  std::map<std::string, std::string> unknown = {};

  bool is_known(std::string_view name) const { return !unknown.contains(std::string(name)); }
  /// Why nothing new is granted, in one sentence; "" = everything is known.
  std::string mistake() const;
};

/// The ConfigMap in Liqo's namespace whose keys are the names of flags without dashes in front.
inline constexpr std::string_view policy_config_map = "liqo-sharing-policy";

/// The names of the flags.
namespace policy_settings {
inline constexpr std::string_view default_resources = "default-node-resources", percentage = "sharing-percentage",
                                  enforcement = "default-limits-enforcement",
                                  default_class = "default-resource-slice-class-enabled",
                                  share_class_switch = "share-resource-slice-class-enabled", storage = "enable-storage",
                                  storage_class_name = "real-storage-class-name", ingress = "ingress-classes",
                                  load_balancers = "load-balancer-classes", labels = "cluster-labels";
}  // namespace policy_settings

/// Sets the part of the policy for the flag of that name ("default-node-resources", "sharing-percentage", …). Errors:
/// Errc::invalid_input for an invalid text or an unknown name; the policy is unchanged then.
kube::Result<void> set_policy(SlicePolicy& policy, std::string_view name, std::string_view text);

/// The result of reading the policy.
struct PolicyReading {
  ReadPolicy policy;
  std::vector<std::string> mistakes;  ///< one sentence for each key that cannot be read, and what holds instead
};
/// The policy of the flags, overridden by the keys of the ConfigMap, which may be null. A key that cannot be read keeps
/// the value of `last`, the policy before; if that is null, or did not know it either, it is unknown.
PolicyReading read_policy(const SlicePolicy& flags, const kube::Object* config_map, const ReadPolicy* last);

/// The percentage that the Tenant's annotation gives one consumer instead of that of the policy; nothing if there is
/// none. Errors: Errc::invalid_input.
kube::Result<std::optional<int>> read_tenant_percentage(const kube::Object& tenant);

}  // namespace liqo::core
