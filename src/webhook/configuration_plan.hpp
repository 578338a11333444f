// What is to be done about a webhook configuration: a decision, without a cluster.
#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "kube/k8s/object.hpp"

namespace liqo::webhook {

/// The ClusterRole of the chart to which both configurations belong, so that Kubernetes removes them with it, whatever
/// way Liqo is uninstalled. It gives no rights, and belongs itself to the namespace of Liqo.
inline constexpr std::string_view installation_role = "liqo-installation";

/// True if the stored object says what `wanted` says; what others add to its metadata does not count.
bool is_as_wanted(const kube::Object& stored, const kube::Object& wanted);

/// True if it belongs to the role besides: nothing is to be done, whether or not the role is there.
bool is_in_place(const kube::Object& stored, const kube::Object& wanted);

/// The stored configuration stays as it is.
struct InPlace {};
/// There is none, and none is made before the role is there: nothing would remove it after an uninstallation, and it
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

/// Decides. `role` is the installation role; nothing where it is not there or is being deleted: what is stored is kept
/// up to date even then. Pure.
ConfigurationPlan plan_configuration(std::optional<kube::Object> stored, kube::Object wanted,
                                     const std::optional<kube::Object>& role);

}  // namespace liqo::webhook
