// What a process knows of the pods on its virtual nodes, for those who serve them to callers.
// Tested by test/cluster/kubelet/test_logs.py.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controllers/links/provider_link.hpp"
#include "kube/runtime/informer.hpp"

namespace liqo::controllers {

class VirtualNodeController;

/// A provider that there is a session with.
struct LinkedProvider {
  std::shared_ptr<ProviderLink> link;  ///< shared by whoever uses it over an await: the session may be gone by then
  std::string cluster_id;
};

/// The way to what runs of a pod at home.
struct OffloadedPod {
  LinkedProvider provider;
  std::string node;              ///< the virtual node
  std::string remote_namespace;  ///< "" = the pod's namespace has no twin at the provider
};

/// A pod at home and what runs of it.
struct OffloadedPodState {
  kube::Object local;
  std::string provider;  ///< its cluster ID
  bool has_twin = false;
  bool is_remote_known = false;             ///< the cache of the twin is complete
  std::optional<kube::Object> remote = {};  ///< what it has of the pod's name, of whichever pod
};

/// What the sessions with providers know now: nothing is read, and nothing is kept. One thread.
class OffloadedPods {
 public:
  /// The controller outlives this.
  explicit OffloadedPods(const VirtualNodeController& virtual_nodes) : virtual_nodes_(&virtual_nodes) {}

  /// The names of the VirtualNodes that exist.
  std::vector<std::string> nodes() const;
  /// None where no virtual node runs the pod. Parses no object, so that strangers may cause it.
  std::optional<OffloadedPod> find(const kube::ObjectKey& local) const;
  /// Likewise, with both pods.
  std::optional<OffloadedPodState> read(const kube::ObjectKey& local) const;
  /// None where the node has no session with its provider.
  std::optional<LinkedProvider> provider_of(const std::string& node) const;
  /// The cache of the pods that are bound to a node, which may be gone after the next await. Null where the node has no
  /// session, or the cache is not complete.
  const kube::Informer* pods_of(const std::string& node) const;

 private:
  const VirtualNodeController* virtual_nodes_;
};

}  // namespace liqo::controllers
