// Typed reading of a NamespaceMap: which namespaces of the consumer have a twin at the provider.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::api {

/// One entry of `status.currentMapping`.
struct MappedNamespace {
  std::string local, remote;
  std::string phase;    ///< "Accepted", "CreationLoopBackOff", "Terminating"
  std::string message;  ///< why, in the provider's words; "" from the Go version
  bool is_accepted() const { return phase == "Accepted"; }
};

/// One entry of `spec.desiredMapping`.
struct WantedNamespace {
  std::string local, remote;
};

/// A view; lives as long as the object.
class NamespaceMap {
 public:
  explicit NamespaceMap(const kube::Object& object) : object_(&object) {}
  /// The entries of `status.currentMapping` as they stand, unchecked. At most `max_entries` are read.
  std::vector<MappedNamespace> current_mapping(std::size_t max_entries = 10'000) const;
  /// The entries of `spec.desiredMapping` as they stand, unchecked; those that are no strings are left out.
  std::vector<WantedNamespace> desired_mapping(std::size_t max_entries = 10'000) const;
  /// The twin that `spec.desiredMapping` has for a namespace, "" if it has none.
  std::string_view desired_twin(std::string_view local) const {
    return kube::string_at(object_->spec(), {"desiredMapping", local});
  }
  /// Whether it is this cluster's wish, to be copied to the provider `remote`.
  bool is_outgoing_to(std::string_view remote) const;
  /// Whether it is the copy of another cluster's wish.
  bool is_incoming() const;
  /// The cluster ID that the copy names as the one that wishes, "" = none. That cluster wrote it, so it is a claim.
  std::string_view origin() const;

 private:
  const kube::Object* object_;
};

}  // namespace liqo::api
