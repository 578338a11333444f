// Typed reading of a VirtualNode: what Node it asks for, and how pods on it are changed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/condition.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::api {

/// `spec.offloadingPatch`: what is changed on every pod that goes through this node.
struct OffloadingPatch {
  std::vector<std::string> annotations_not_reflected;  ///< exact keys
  std::vector<std::string> labels_not_reflected;       ///< exact keys
  kube::json::object node_selector;                    ///< label to value
  kube::json::array tolerations;                       ///< appended to the pod's
  kube::json::object node_affinity;                    ///< core/v1 NodeAffinity, empty = none
  std::string runtime_class;                           ///< "" = none
};

/// A view; lives as long as the object. What is absent or of the wrong type reads as empty.
class VirtualNode {
 public:
  explicit VirtualNode(const kube::Object& object) : object_(&object) {}

  const kube::Object& object() const { return *object_; }
  std::string_view name() const { return object_->name(); }
  /// The provider's cluster ID.
  std::string_view cluster_id() const { return kube::string_at(object_->spec(), {"clusterID"}); }
  /// The Secret, in the VirtualNode's namespace, whose key `kubeconfig` reaches the provider; "" = none named.
  std::string_view kubeconfig_secret() const {
    return kube::string_at(object_->spec(), {"kubeconfigSecretRef", "name"});
  }
  /// Whether a Node is wanted. Absent means yes.
  bool create_node() const;
  /// True: the network module is not looked at for readiness. Absent means no.
  bool disable_network_check() const;
  /// `spec.resourceQuota.hard`: resource name to quantity.
  const kube::json::object& hard() const { return kube::object_at(object_->spec(), {"resourceQuota", "hard"}); }
  const kube::json::object& labels() const { return kube::object_at(object_->spec(), {"labels"}); }
  const kube::json::object& annotations() const { return kube::object_at(object_->spec(), {"annotations"}); }
  const kube::json::array& taints() const { return kube::array_at(object_->spec(), {"taints"}); }
  const kube::json::array& images() const { return kube::array_at(object_->spec(), {"images"}); }
  const kube::json::array& storage_classes() const { return kube::array_at(object_->spec(), {"storageClasses"}); }
  /// The provider's class that reflected Ingresses get: the default one of `spec.ingressClasses`, else the first; "" if
  /// none was agreed on.
  std::string_view ingress_class() const;
  /// The provider's class that reflected Services of type LoadBalancer get: the default one of
  /// `spec.loadBalancerClasses`, else the first; "" if none was agreed on.
  std::string_view load_balancer_class() const;
  /// The provider's class that remote claims get: the default one of `spec.storageClasses`, else the first; "" if none
  /// was agreed on.
  std::string_view storage_class() const;
  OffloadingPatch offloading_patch() const;
  /// The VkOptionsTemplate that it names, by namespace and name; no name = none.
  kube::ObjectKey options_template() const {
    return {std::string(kube::string_at(object_->spec(), {"vkOptionsTemplateRef", "namespace"})),
            std::string(kube::string_at(object_->spec(), {"vkOptionsTemplateRef", "name"}))};
  }

 private:
  const kube::Object* object_;
};

/// The status with this condition set once (duplicates of older writers are collapsed); nullopt if it is so already.
/// `type` is "Node" or "VirtualKubelet", `status` one of "None", "Running", "Creating", "Draining", "Deleting". The
/// transition time changes only with the status.
std::optional<kube::json::object> with_condition(const kube::Object& virtual_node, const kube::Condition& wanted,
                                                 kube::WallTime now);

}  // namespace liqo::api
