// What a process knows of the pods on its virtual nodes, for those who serve them to callers.
// Tested by test/cluster/test_logs.py.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/runtime/informer.hpp"
#include "liqo/controllers/providers/provider_link.hpp"

namespace liqo::controllers {

class VirtualNodeController;

/// A provider that there is a session with.
struct LinkedProvider {
  std::shared_ptr<ProviderLink> link;  ///< shared by whoever uses it over an await: the session may be gone by then
  std::string cluster_id;
};

/// A pod at home and the way to what runs of it.
struct OffloadedPod {
  LinkedProvider provider;
  std::optional<kube::Object> local;        ///< none where the cache has not seen it yet
  std::string remote_namespace;             ///< "" = the pod's namespace has no twin at the provider
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
  /// None where no virtual node runs the pod.
  std::optional<OffloadedPod> find(const kube::ObjectKey& local) const;
  /// None where the node has no session with its provider.
  std::optional<LinkedProvider> provider_of(const std::string& node) const;
  /// The cache of the pods that are bound to a node, which may be gone after the next await. Null where the node has no
  /// session, or the cache is not complete.
  const kube::Informer* pods_of(const std::string& node) const;

 private:
  const VirtualNodeController* virtual_nodes_;
};

}  // namespace liqo::controllers
