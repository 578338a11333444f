// What the pods of a virtual node ask of their provider.
// Tested by test/unit/controllers/offloading/pod_test.cpp, test/unit/controllers/offloading/resize_test.cpp and
// test/unit/controllers/offloading/ephemeral_containers_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "controllers/offloading/awaited_pods.hpp"
#include "controllers/offloading/offloading_node.hpp"
#include "controllers/offloading/pod_status_writer.hpp"
#include "controllers/offloading/pod_twins.hpp"
#include "controllers/offloading/pods_without_room.hpp"
#include "controllers/offloading/refused_pods.hpp"
#include "core/offloading/resize.hpp"
#include "core/offloading/shadow_pod.hpp"

namespace liqo::controllers {

/// Creates and changes ShadowPods. What the provider answers goes into the caches and to those who have to know, and
/// what it refuses stands in its words in one condition and one Event of the pod at home. One thread.
class PodOrders {
 public:
  /// Who learns of the answers.
  struct Listeners {
    PodsWithoutRoom& room;
    RefusedPods& refused;
    AwaitedPods& awaited;
  };
  /// All outlive this.
  PodOrders(OffloadingNode& node, PodTwins& twins, PodStatusWriter& statuses, Listeners listeners);

  /// How long a refused pod waits before it is ordered again, because it was refused a moment ago or because another
  /// pod of the same demand asks for both; nothing = it is ordered now.
  std::optional<kube::Duration> wait_for_room(const kube::Object& local, std::string_view remote_namespace);
  asio::awaitable<kube::Result<void>> create(const kube::Object& local, kube::ObjectKey remote_key);
  /// Whether there was anything to send.
  asio::awaitable<kube::Result<bool>> update(const kube::Object& local, const kube::Object& shadow);
  /// Brings the amounts of the pod to its ShadowPod; answers what the provider says against them.
  asio::awaitable<kube::Result<core::ResizeRefusal>> resize(const kube::Object& local, kube::ObjectKey remote_key,
                                                            const kube::Object& remote);
  /// The ShadowPod has the amounts of the pod. Wakes refused pods once the provider has completed a resize, which may
  /// have freed room.
  void note_resized(const kube::Object& local, const kube::Object& shadow, const kube::Object& remote);
  /// Brings the ephemeral containers of the pod to its ShadowPod; answers what the provider says against them, "" =
  /// nothing.
  asio::awaitable<kube::Result<std::string>> add_ephemeral(const kube::Object& local, kube::ObjectKey remote_key,
                                                           const kube::Object& remote);
  /// Sends an Event of the refusal, unless the status of `local`, read before the write, shows one already.
  void tell_refusal(const kube::Object& local, const std::string& message);

 private:
  /// Patches the pod's ShadowPod and puts the answer into the cache. Returns the refusal where the provider will not
  /// take the patch.
  asio::awaitable<kube::Result<std::optional<kube::Failure>>> change(const kube::Object& local,
                                                                     kube::ObjectKey remote_key,
                                                                     kube::json::object patch, std::string_view phase);
  /// Notes how an order of the pod was answered; null = it was taken.
  void note_answer(const kube::Object& local, const kube::Failure* refusal);
  /// Notes and tells what follows from a ShadowPod that was created.
  void note_created(const kube::Object& local, const core::ForgedShadowPod& forged, kube::Object created);
  /// Has the pod show that its order failed, where that is for good, and returns the failure.
  asio::awaitable<kube::Result<void>> refuse(const kube::Object& local, kube::ObjectKey remote_key,
                                             kube::Failure failure);
  /// The ShadowPod in the cache, if it was made for the UID of this pod.
  std::optional<kube::Object> shadow_of(const kube::Object& local, const kube::ObjectKey& remote_key);
  /// Whether the claim of that name, in the pod's namespace, gets its volume where the pod runs.
  bool has_volume_there(const kube::Object& local, std::string_view claim) const;
  /// Sends an Event that the provider refuses `what` of the pod.
  void warn_refused(const kube::Object& local, std::string_view what, std::string_view words);

  OffloadingNode& node_;
  PodTwins& twins_;
  PodStatusWriter& statuses_;
  Listeners listeners_;
  kube::InformerHandle claims_;  ///< acquired where a storage class has volumes that follow their pods
};

}  // namespace liqo::controllers
