// The policy of a provider for the slices of its consumers, read from flags and a ConfigMap.
// Tested by test/unit/core/slices/share_test.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/k8s/object.hpp"
#include "liqo/core/quota/resources.hpp"

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
  int sharing_percentage = 90;              ///< 1 to 100, of what is free, for class "share"
  std::string limits_enforcement = "None";  ///< of every Quota: "None", "Soft", "Hard"
  bool storage_enabled = false;
  std::string storage_class;  ///< the consumers' default class; "" = the cluster's
  std::vector<OfferedClass> ingress_classes, load_balancer_classes;
  std::map<std::string, std::string> cluster_labels;  ///< for the consumers' nodes

  bool is_share_enabled() const { return share_class_enabled.value_or(default_class_enabled); }
};

/// The ConfigMap in Liqo's namespace whose keys are the names of flags without dashes in front.
inline constexpr std::string_view policy_config_map = "liqo-sharing-policy";

/// Sets the part of the policy for the flag of that name ("default-node-resources", "sharing-percentage", …). Errors:
/// Errc::invalid_input for an invalid text or an unknown name; the policy is unchanged then.
kube::Result<void> set_policy(SlicePolicy& policy, std::string_view name, std::string_view text);

/// A policy as far as it could be read.
struct PolicyReading {
  SlicePolicy policy;
  std::vector<std::string> mistakes;  ///< one sentence for each key that was ignored
};
/// The policy of the flags, overridden by the keys of the ConfigMap, which may be null.
PolicyReading read_policy(const SlicePolicy& flags, const kube::Object* config_map);

/// The percentage for one consumer: its Tenant's annotation, or that of the policy. An annotation that is not 1 to 100
/// is ignored.
int sharing_percentage(const SlicePolicy& policy, const kube::Object& tenant);

}  // namespace liqo::core
