// Typed reading of an Identity: credentials that a provider gave to this cluster.
#pragma once

#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::api {

inline constexpr std::string_view control_plane_identity = "ControlPlane";
inline constexpr std::string_view resource_slice_identity = "ResourceSlice";

/// A view; lives as long as the object.
class Identity {
 public:
  explicit Identity(const kube::Object& object) : object_(&object) {}
  const kube::Object& object() const { return *object_; }
  /// The provider's cluster ID.
  std::string_view cluster_id() const { return kube::string_at(object_->spec(), {"clusterID"}); }
  /// `control_plane_identity` or `resource_slice_identity`.
  std::string_view type() const { return kube::string_at(object_->spec(), {"type"}); }
  bool is_control_plane() const { return type() == control_plane_identity; }
  const kube::json::object& auth_params() const { return kube::object_at(object_->spec(), {"authParams"}); }
  /// The tenant namespace at the provider; "" for slices.
  std::string_view remote_namespace() const { return kube::string_at(object_->spec(), {"namespace"}); }
  /// The Secret, in the same namespace, that was made of it.
  std::string_view kubeconfig_secret() const {
    return kube::string_at(object_->status(), {"kubeconfigSecretRef", "name"});
  }

 private:
  const kube::Object* object_;
};

}  // namespace liqo::api
