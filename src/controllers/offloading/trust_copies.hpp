// The ConfigMaps with trust bundles of this cluster that its pods mount in a provider.
// Tested by test/unit/controllers/offloading/trust_copies_test.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "controllers/offloading/home_trust.hpp"
#include "controllers/offloading/offloading_node.hpp"
#include "controllers/offloading/pod_twins.hpp"

namespace liqo::controllers {

/// Keeps one ConfigMap in a twin for all pods that ask for the same bundles, and removes it a while after the last of
/// them. What an earlier process has left goes with the next such pod, or with the twin.
///
/// Guarantees: a ConfigMap of somebody else that has the name is left alone. What the provider refuses is asked again
/// after an hour. A pod that waits for a bundle learns that by one Event. One thread.
class TrustCopies {
 public:
  /// So long a ConfigMap stays that no pod mounts any more: pods are made again.
  static constexpr std::chrono::minutes unused_for{5};
  /// The pause after a refusal of the provider.
  static constexpr std::chrono::hours refused_pause{1};

  /// Both outlive this.
  TrustCopies(OffloadingNode& node, PodTwins& twins);

  /// Brings what a pod that is to be sent mounts. Returns how long the pod has to wait for that; nothing = it may be
  /// sent, also if a bundle is missing, because it waits for it in the provider as it would here.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> prepare(const kube::Object& local,
                                                                       std::string remote_namespace);
  /// Brings up to date what the pod of this ShadowPod mounts. Returns when to look again; nothing = when something
  /// changes.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> keep(const kube::Object& local,
                                                                    const kube::Object& shadow);
  /// Whether the pod waits for a bundle.
  bool is_waiting(const kube::ObjectKey& local) const;
  /// The pod is gone.
  void leave(const kube::ObjectKey& local);
  /// Ends the watches of twins that are gone. To be called when the mapping of namespaces has changed.
  void see_mapping();
  /// Removes what no pod in the twin of the namespace has mounted for a while.
  asio::awaitable<kube::Result<void>> sweep(std::string local_namespace);

 private:
  /// What is watched in one twin.
  struct Watched {
    std::string remote;
    kube::InformerHandle copies;  ///< metadata
    std::map<std::string, kube::TimePoint> unused_since;
  };
  /// A pod that mounts bundles of home.
  struct User {
    std::string uid;
    std::string copy;  ///< the name of its ConfigMap
    std::string told;  ///< of what is wrong
    bool is_waiting = false;
    /// The state of home's bundles and of the ConfigMap in which there was nothing to do.
    std::uint64_t changes = 0;
    std::string version = {};
  };
  struct Refused {
    std::string digest, words;
    kube::TimePoint at{};
  };

  Watched& watch(const std::string& local, const std::string& remote);
  Watched* find(const std::string& local, std::string_view remote);
  void enqueue_users(std::string_view ns = "");
  /// Reports what is wrong, once.
  void tell(const kube::Object& local, std::string words);
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> bring(const kube::Object& local,
                                                                     std::string remote_namespace,
                                                                     core::TrustSources sources);
  asio::awaitable<kube::Result<void>> write(const kube::Object& local, kube::Object wanted,
                                            std::optional<kube::Object> known);
  asio::awaitable<kube::Result<kube::Object>> send(kube::Object wanted, std::optional<kube::Object> known);
  asio::awaitable<kube::Result<void>> remove(const std::string& local, const kube::Object& copy);
  /// Ends the watch of a twin in which there is nothing left.
  void rest(const std::string& local);
  /// The names that pods of any virtual node mount in the twin of the namespace.
  std::set<std::string> used_names(const std::string& local);

  OffloadingNode& node_;
  PodTwins& twins_;
  HomeTrust home_;
  std::map<std::string, Watched, std::less<>> watched_;  ///< by local namespace
  std::map<kube::ObjectKey, User> users_;                ///< by pod at home
  std::set<kube::ObjectKey> writing_;
  std::map<kube::ObjectKey, Refused> refused_;
};

}  // namespace liqo::controllers
