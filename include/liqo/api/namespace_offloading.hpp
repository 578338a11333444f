// Typed reading of a NamespaceOffloading: a namespace's wish to be extended to other clusters.
#pragma once

#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::api {

/// The one name that a NamespaceOffloading may have: there is one for a namespace.
inline constexpr std::string_view namespace_offloading_name = "offloading";

/// The `status.offloadingPhase` of one that selects no provider.
inline constexpr std::string_view no_cluster_selected = "NoClusterSelected";

/// Which nodes new pods may be scheduled on: physical ones, virtual ones, or both.
enum class PodOffloadingStrategy { local, remote, local_and_remote };
/// How twin namespaces are called.
enum class NamespaceMappingStrategy { default_name, enforce_same_name, selected_name };

/// A view; lives as long as the object. What is absent or of the wrong type reads as the CRD's default.
class NamespaceOffloading {
 public:
  explicit NamespaceOffloading(const kube::Object& object) : object_(&object) {}

  const kube::Object& object() const { return *object_; }
  std::string_view ns() const { return object_->ns(); }
  /// False for one of another name, which nothing follows.
  bool has_right_name() const { return object_->name() == namespace_offloading_name; }
  /// Unknown values read as default_name.
  NamespaceMappingStrategy mapping_strategy() const;
  /// `spec.remoteNamespaceName`, of use for selected_name only.
  std::string_view remote_namespace_name() const { return kube::string_at(object_->spec(), {"remoteNamespaceName"}); }
  /// Unknown values read as local, which offloads no pod.
  PodOffloadingStrategy pod_strategy() const;
  /// `spec.clusterSelector`, a core/v1 NodeSelector; empty or without terms selects every cluster.
  const kube::json::object& cluster_selector() const { return kube::object_at(object_->spec(), {"clusterSelector"}); }
  /// `status.remoteNamespacesConditions`: conditions by the name of the NamespaceMap.
  const kube::json::object& conditions() const {
    return kube::object_at(object_->status(), {"remoteNamespacesConditions"});
  }

 private:
  const kube::Object* object_;
};

}  // namespace liqo::api
