// Decides what is to be done about a webhook configuration.
#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "kube/k8s/object.hpp"

namespace liqo::webhook {

/// The ClusterRole of the chart to which both configurations belong, so that Kubernetes removes them with it, however
/// Liqo is uninstalled. It grants no rights, and itself belongs to the namespace of Liqo.
inline constexpr std::string_view installation_role = "liqo-installation";

/// True if the stored object has the content of `wanted`; additions of others to its metadata do not count.
bool is_as_wanted(const kube::Object& stored, const kube::Object& wanted);

/// True if the stored object is as wanted and belongs to the role: nothing is to be done, whether or not the role
/// exists.
bool is_in_place(const kube::Object& stored, const kube::Object& wanted);

/// The stored configuration stays as it is.
struct InPlace {};
/// There is none, and none is made before the role exists: nothing would remove it after an uninstallation, and it
/// fails closed.
struct AwaitRole {};
struct Create {
  kube::Object configuration;
};
/// `configuration` has the version of the stored one.
struct Replace {
  kube::Object configuration;
};
using ConfigurationPlan = std::variant<InPlace, AwaitRole, Create, Replace>;

/// Decides. `role` is the installation role; nothing if it does not exist or is being deleted. A stored configuration
/// is kept up to date even then. Pure.
ConfigurationPlan plan_configuration(std::optional<kube::Object> stored, kube::Object wanted,
                                     const std::optional<kube::Object>& role);

}  // namespace liqo::webhook
