// The twin namespaces that hold the pods of a virtual node, and those that are withdrawn.
// Tested by test/unit/controllers/offloading/hidden_twin_test.cpp and
// test/unit/controllers/namespaces/withdrawn_twin_test.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "controllers/offloading/offloading_node.hpp"
#include "controllers/offloading/pod_tokens.hpp"
#include "controllers/offloading/pod_twin.hpp"
#include "core/namespaces/namespace_mapping.hpp"

namespace liqo::controllers {

/// Follows the mapping of namespaces: watches the twins, and enqueues pods when something changes there. The watch of a
/// withdrawn twin ends when nothing of this node is left in it. The result of find() is valid until the next await. One
/// thread.
class PodTwins {
 public:
  /// Both outlive this.
  PodTwins(OffloadingNode& node, PodTokens& tokens) : node_(node), tokens_(tokens) {}

  /// Sets the namespaces that have a twin now, and starts and stops the watches of twins accordingly.
  void set_mapping(core::NamespaceMapping mapping);
  const core::NamespaceMapping& mapping() const { return mapping_; }
  bool is_mapping_known() const { return mapping_known_; }

  /// The twin of a namespace; null = it has none.
  PodTwin* find(const std::string& local_namespace);
  /// The twin with that watch; null = there is none any more.
  PodTwin* find(const TwinWatch& watch);
  /// One of the caches of the namespace's twin, for storing an answer from that twin; null if the namespace has another
  /// twin by now, or none.
  kube::Informer* cache_of(const std::string& local_namespace, std::string_view remote_namespace,
                           kube::InformerHandle TwinWatch::* which);
  /// The pods in the twin of a namespace; null if that cache is not complete.
  const kube::Informer* pods(const std::string& local_namespace, std::string_view remote_namespace) const;
  /// Count what was written in the twin of the namespace, and what could not be; nothing if it has no twin.
  void count_reflected(const std::string& local_namespace);
  void count_failed(const std::string& local_namespace);

  /// Enqueues every pod of this node.
  void enqueue_all();
  /// Enqueues every pod of the namespace of which this node has an object at home or in the twin.
  void enqueue_twin(const std::string& local_namespace);
  /// Enqueues the pod of a changed object in a twin, if the pod is known here or the object bears this node's name.
  void enqueue_changed(const TwinWatch& watch, const kube::Change& change);
  void enqueue_token_pod(const std::string& local_namespace, const kube::ObjectKey& secret);
  /// Reads the twins again, because this process begins to lead.
  void wake_anew();
  /// Whether this node needs the watch of a twin even though the twin is empty.
  bool is_needed(const TwinWatch& watch) const;

  /// Starts the watch of a withdrawn twin if something of a pod that an earlier process may have offloaded is in it. If
  /// the pod shows no remote pod, it may have been offloaded just before the restart, so the provider is asked once.
  asio::awaitable<kube::Result<void>> look_behind(kube::Object local);
  /// Ends the watch of a withdrawn twin in which nothing of this node is left.
  void leave_withdrawn(const std::string& local_namespace);
  /// Starts the watch of token Secrets if the twin has one of this node: the Secret may be all that is left of a pod
  /// that was deleted while this process was down.
  asio::awaitable<kube::Outcome> look_for_tokens(std::string local_namespace);

 private:
  bool is_of_this_node(const kube::Object* object) const;
  bool is_known_here(const kube::ObjectKey& local) const;
  PodTwin& start(const std::string& local_namespace, const std::string& remote);
  /// Starts the watch of a withdrawn twin, unless it is known to hold nothing of this node.
  void watch_withdrawn(const std::string& local_namespace);
  /// Whether the provider, which refuses to show what is left of the pod, may still allow it.
  bool is_in_doubt(const kube::Object& local, const kube::ObjectKey& remote_key, const kube::Failure& refusal);

  OffloadingNode& node_;
  PodTokens& tokens_;
  core::NamespaceMapping mapping_;
  bool mapping_known_ = false;
  std::map<std::string, PodTwin, std::less<>> twins_;  ///< by local namespace
  std::map<std::string, std::string> left_;            ///< withdrawn twins that hold nothing, by local namespace
};

}  // namespace liqo::controllers
