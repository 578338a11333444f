// Typed reading of a ForeignCluster: another cluster that this one knows, and the state of what the two share.
#pragma once

#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::api {

/// A view; lives as long as the object. What is absent or of the wrong type reads as empty.
class ForeignCluster {
 public:
  explicit ForeignCluster(const kube::Object& object) : object_(&object) {}
  std::string_view cluster_id() const { return kube::string_at(object_->spec(), {"clusterID"}); }
  /// Of the other cluster, as seen from here: "Consumer", "Provider", "ConsumerAndProvider" or "Unknown".
  std::string_view role() const;
  /// The status of the condition of that type, wherever in the status it stands; "" if there is none.
  std::string_view condition(std::string_view type) const;
  /// True if an operator has declared the cluster lost and its API server does not answer; then nothing waits for it.
  bool is_permanently_unreachable() const;
  /// True if the other cluster was a provider already when a version without declared addresses (an earlier one or the
  /// Go version) wrote the status, and this version has only recorded that since.
  bool is_older_than_declarations() const;

 private:
  const kube::Object* object_;
};

}  // namespace liqo::api
