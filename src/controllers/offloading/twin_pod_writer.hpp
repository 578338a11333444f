// Writes on the Pods that the provider has made for ShadowPods.
// Tested by test/unit/controllers/offloading/shadow_pod_test.cpp and test/unit/controllers/offloading/resize_test.cpp.
// Tested by test/unit/controllers/offloading/ephemeral_containers_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <unordered_map>

#include "controllers/common/context.hpp"
#include "controllers/offloading/bounded_twins.hpp"
#include "controllers/offloading/order_memories.hpp"
#include "core/offloading/ephemeral_containers.hpp"
#include "core/offloading/resize.hpp"

namespace liqo::controllers {

/// Writes on Pods in twins. The answers go into the cache, so readers see each write at once. One thread.
class TwinPodWriter {
 public:
  /// `bounded` and `memories` outlive this.
  TwinPodWriter(Context context, BoundedTwins& bounded, OrderMemories& memories);

  /// Removes our finalizer from the pod, if it has one. `confirm_first`: reads the ShadowPod live, and keeps the
  /// finalizer if that is the pod's controller.
  asio::awaitable<kube::Result<void>> release(const kube::Object& pod, bool confirm_first);
  /// Notes that the pod is gone from the cache.
  void note_gone(const kube::ObjectKey& key) { released_.erase(key); }
  /// Patches the Pod to match its ShadowPod. A refusal is reported by an Event of the ShadowPod, too.
  asio::awaitable<kube::Result<void>> patch(const kube::Object& shadow, const kube::json::object& patch);
  /// Adds an ephemeral container to the Pod, or notes there that the API server refuses it.
  asio::awaitable<kube::Result<void>> add_ephemeral(const kube::Object& shadow, const kube::Object& pod,
                                                    core::EphemeralAddition addition);
  /// Resizes the Pod, or notes on it that the resize is refused. Returns after which time to try again; nothing if the
  /// change of the Pod enqueues it.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> resize(const kube::Object& shadow,
                                                                      const kube::Object& pod, core::PodResize plan);

 private:
  Context context_;
  BoundedTwins& bounded_;
  OrderMemories& memories_;
  kube::InformerHandle pods_;
  std::unordered_map<kube::ObjectKey, std::string> released_;  ///< versions of pods that the cache has, and we released
};

}  // namespace liqo::controllers
