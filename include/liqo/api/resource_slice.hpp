// Typed reading of a ResourceSlice: what a consumer asks for, and what its provider answers.
#pragma once

#include <optional>
#include <string_view>

#include "kube/k8s/condition.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::api {

/// The two decisions of a slice.
namespace slice_conditions {
inline constexpr std::string_view authentication = "Authentication";
inline constexpr std::string_view resources = "Resources";
inline constexpr std::string_view accepted = "Accepted";
inline constexpr std::string_view denied = "Denied";
}  // namespace slice_conditions

/// A view; lives as long as the object. What is absent or of the wrong type reads as empty.
class ResourceSlice {
 public:
  explicit ResourceSlice(const kube::Object& object) : object_(&object) {}

  const kube::Object& object() const { return *object_; }
  std::string_view name() const { return object_->name(); }
  std::string_view consumer() const { return kube::string_at(object_->spec(), {"consumerClusterID"}); }
  std::string_view provider() const { return kube::string_at(object_->spec(), {"providerClusterID"}); }
  /// "default" if none is named.
  std::string_view slice_class() const;
  /// The signing request as the object has it: base64 of PEM.
  std::string_view csr() const { return kube::string_at(object_->spec(), {"csr"}); }
  /// Resource name to quantity, unchecked.
  const kube::json::object& requested() const { return kube::object_at(object_->spec(), {"resources"}); }
  const kube::json::object& granted() const { return kube::object_at(object_->status(), {"resources"}); }
  const kube::json::object& auth_params() const { return kube::object_at(object_->status(), {"authParams"}); }
  /// The condition of that type; nothing while the provider has not decided.
  std::optional<kube::Condition> condition(std::string_view type) const;
  bool is_accepted(std::string_view type) const;
  bool is_denied(std::string_view type) const;
  /// A copy of another cluster's slice: this cluster is the provider.
  bool is_replica() const;
  /// Of this cluster, asking the cluster that its label names.
  bool is_local() const;

 private:
  const kube::Object* object_;
};

/// The conditions with this one set, once, or nullopt if they are so already. The transition time changes with status,
/// reason or message, as the Go version has it.
std::optional<kube::json::array> with_slice_condition(const kube::Object& slice, const kube::Condition& wanted,
                                                      kube::WallTime now);
/// The conditions without those of that type, or nullopt if there is none.
std::optional<kube::json::array> without_slice_condition(const kube::Object& slice, std::string_view type);

}  // namespace liqo::api
