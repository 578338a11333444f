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
  std::string phase;  ///< "Accepted", "CreationLoopBackOff", "Terminating"
  bool accepted() const { return phase == "Accepted"; }
};

/// A view; lives as long as the object.
class NamespaceMap {
 public:
  explicit NamespaceMap(const kube::Object& object) : object_(&object) {}
  /// The provider's cluster ID (label).
  std::string_view remote_cluster() const;
  /// The entries of `status.currentMapping` as they stand, unchecked. At most `limit` are read.
  std::vector<MappedNamespace> current_mapping(std::size_t limit = 10'000) const;

 private:
  const kube::Object* object_;
};

}  // namespace liqo::api
