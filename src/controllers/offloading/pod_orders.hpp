// The orders of a virtual node's pods to their provider.
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

/// Creates and changes ShadowPods. The provider's answers go into the caches and to the listeners. What it refuses is
/// reported in its words by one condition and one Event of the pod at home. One thread.
class PodOrders {
 public:
  /// The parts that are notified of the answers.
  struct Listeners {
    PodsWithoutRoom& room;
    RefusedPods& refused;
    AwaitedPods& awaited;
  };
  /// All outlive this.
  PodOrders(OffloadingNode& node, PodTwins& twins, PodStatusWriter& statuses, Listeners listeners);

  /// How long a refused pod waits before it is ordered again; nothing = it is ordered now. It waits because it was
  /// refused a moment ago, or because another pod with the same demand asks for both.
  std::optional<kube::Duration> wait_for_room(const kube::Object& local, std::string_view remote_namespace);
  /// The owner of what is ordered in a twin; nothing: it gets none. If the twin cannot be read in a few seconds, the
  /// order that follows shows what is wrong with the provider.
  asio::awaitable<std::optional<kube::OwnerReference>> owner_in(std::string twin);
  asio::awaitable<kube::Result<void>> create(const kube::Object& local, kube::ObjectKey remote_key,
                                             std::optional<kube::OwnerReference> owner);
  /// Sends changes of the pod to its ShadowPod. Returns whether there was anything to send.
  asio::awaitable<kube::Result<bool>> update(const kube::Object& local, const kube::Object& shadow);
  /// Writes the resources of the pod into its ShadowPod; returns the provider's refusal, if any.
  asio::awaitable<kube::Result<core::ResizeRefusal>> resize(const kube::Object& local, kube::ObjectKey remote_key,
                                                            const kube::Object& remote);
  /// Notes that the ShadowPod has the resources of the pod. Wakes refused pods once the provider has completed the
  /// resize, which may have freed room.
  void note_resized(const kube::Object& local, const kube::Object& shadow, const kube::Object& remote);
  /// Writes the ephemeral containers of the pod into its ShadowPod; returns the provider's refusal, "" = none.
  asio::awaitable<kube::Result<std::string>> add_ephemeral(const kube::Object& local, kube::ObjectKey remote_key,
                                                           const kube::Object& remote);
  /// Shows in the pod's status, and by one Event, why this cluster does not send the pod; returns that as a failure.
  asio::awaitable<kube::Result<void>> refuse_here(const kube::Object& local, kube::ObjectKey remote_key,
                                                  std::string why);
  /// Sends an Event about the refusal, unless the status of `local`, read before the write, shows one already.
  void report_refusal(const kube::Object& local, const std::string& message);

 private:
  TwinOwners* owners() const { return node_.provider.owners; }
  /// Patches the pod's ShadowPod and puts the answer into the cache. Returns the refusal if the provider will not
  /// take the patch.
  asio::awaitable<kube::Result<std::optional<kube::Failure>>> change(const kube::Object& local,
                                                                     kube::ObjectKey remote_key,
                                                                     kube::json::object patch, std::string_view phase);
  /// Notes how an order of the pod was answered; null = it was taken.
  void note_answer(const kube::Object& local, const kube::Failure* refusal);
  /// Notes a created ShadowPod, and notifies the listeners.
  void note_created(const kube::Object& local, const core::ForgedShadowPod& forged, kube::Object created);
  /// Shows in the pod's status that its order failed, if the failure is permanent, and returns the failure.
  asio::awaitable<kube::Result<void>> refuse(const kube::Object& local, kube::ObjectKey remote_key,
                                             kube::Failure failure);
  /// The ShadowPod in the cache, if it was made for the UID of this pod.
  std::optional<kube::Object> shadow_of(const kube::Object& local, const kube::ObjectKey& remote_key);
  /// Whether the claim of that name, in the pod's namespace, gets its volume in the cluster where the pod runs.
  bool has_volume_there(const kube::Object& local, std::string_view claim) const;
  /// Makes ephemeral volumes of a ShadowPod name claims that follow the pod. Errors: Errc::missing for a claim whose
  /// class has to be known first, Errc::invalid_input for one that was not made for the pod.
  kube::Result<void> name_claims(const kube::Object& local, kube::Object& shadow) const;
  /// Sends an Event that the provider refuses `what` of the pod.
  void warn_refused(const kube::Object& local, std::string_view what, std::string_view words);

  OffloadingNode& node_;
  PodTwins& twins_;
  PodStatusWriter& statuses_;
  Listeners listeners_;
  kube::InformerHandle claims_;  ///< acquired if a storage class has volumes that follow their pods
};

}  // namespace liqo::controllers
