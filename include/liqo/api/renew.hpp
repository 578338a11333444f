// Typed reading of a Renew: the way by which a renewed ControlPlane certificate comes to the consumer.
#pragma once

#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::api {

/// A view; lives as long as the object.
class Renew {
 public:
  explicit Renew(const kube::Object& object) : object_(&object) {}
  const kube::Object& object() const { return *object_; }
  std::string_view consumer_cluster_id() const { return kube::string_at(object_->spec(), {"consumerClusterID"}); }
  std::string_view identity_type() const { return kube::string_at(object_->spec(), {"identityType"}); }
  /// Empty until the provider has answered.
  const kube::json::object& auth_params() const { return kube::object_at(object_->status(), {"authParams"}); }

 private:
  const kube::Object* object_;
};

}  // namespace liqo::api
