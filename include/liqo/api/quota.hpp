// Typed reading of a Quota: the bound on what one user of a consumer may have in this cluster.
#pragma once

#include <string_view>

#include "kube/k8s/object.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::api {

/// A view; lives as long as the object. What is absent or of the wrong type reads as empty.
class Quota {
 public:
  explicit Quota(const kube::Object& object) : object_(&object) {}

  const kube::Object& object() const { return *object_; }
  /// Name of the API user whose ShadowPods are counted.
  std::string_view user() const { return kube::string_at(object_->spec(), {"user"}); }
  /// Resource name to quantity, unchecked.
  const kube::json::object& resources() const { return kube::object_at(object_->spec(), {"resources"}); }
  /// "None", "Soft", "Hard", or "" if the Quota does not say.
  std::string_view enforcement() const { return kube::string_at(object_->spec(), {"limitsEnforcement"}); }
  bool is_cordoned() const { return kube::bool_at(object_->spec(), {"cordoned"}); }
  /// Whether the pods that it counts are ended.
  bool is_drained() const { return object_->annotation(annotations::drained) == "true"; }

 private:
  const kube::Object* object_;
};

}  // namespace liqo::api
