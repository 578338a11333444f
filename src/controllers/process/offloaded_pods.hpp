// Looks up the pods on the virtual nodes of a process, for the parts that serve them to callers.
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

/// A provider with which there is a session.
struct LinkedProvider {
  std::shared_ptr<ProviderLink> link;  ///< shared by callers that use it over an await: the session may be gone by then
  std::string cluster_id;
};

/// The address of the remote pod of a pod at home.
struct OffloadedPod {
  LinkedProvider provider;
  std::string node;              ///< the virtual node
  std::string remote_namespace;  ///< "" = the pod's namespace has no twin at the provider
};

/// A pod at home and its remote pod.
struct OffloadedPodState {
  kube::Object local;
  std::string provider;  ///< its cluster ID
  bool has_twin = false;
  bool is_remote_known = false;             ///< the cache of the twin is complete
  std::optional<kube::Object> remote = {};  ///< the pod of that name in the twin, whichever pod it was made for
};

/// Answers from what the sessions with providers know at the moment: it sends no requests and stores nothing. One
/// thread.
class OffloadedPods {
 public:
  /// The controller outlives this.
  explicit OffloadedPods(const VirtualNodeController& virtual_nodes) : virtual_nodes_(&virtual_nodes) {}

  /// The names of the VirtualNodes that exist.
  std::vector<std::string> nodes() const;
  /// The virtual node and the remote namespace of a pod; nothing if no virtual node runs it. Parses no object, so that
  /// unauthenticated callers may cause it.
  std::optional<OffloadedPod> find(const kube::ObjectKey& local) const;
  /// The pod and its remote pod; nothing if no virtual node runs it.
  std::optional<OffloadedPodState> read(const kube::ObjectKey& local) const;
  /// The provider of a node; nothing if the node has no session with it.
  std::optional<LinkedProvider> provider_of(const std::string& node) const;
  /// The cache of the pods that are bound to a node, which may be gone after the next await. Null if the node has no
  /// session, or the cache is not complete.
  const kube::Informer* pods_of(const std::string& node) const;

 private:
  const VirtualNodeController* virtual_nodes_;
};

}  // namespace liqo::controllers
