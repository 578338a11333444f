// How a provider makes the Pod of a ShadowPod, within the bounds of its twin.
// Tested by test/unit/controllers/offloading/shadow_pod_test.cpp.
// Tested by test/unit/controllers/namespaces/twin_pod_bounds_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/offloading/bounded_twins.hpp"
#include "controllers/offloading/order_memories.hpp"
#include "controllers/offloading/shadow_pod_writer.hpp"
#include "controllers/offloading/twin_consumers.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Makes Pods in twins. One thread.
class TwinPodMaker {
 public:
  /// Until a cache that was asked for just now is looked at again.
  static constexpr std::chrono::milliseconds cache_pause{200};

  /// All but `context` outlive this.
  TwinPodMaker(Context context, TwinConsumers& consumers, BoundedTwins& bounded, ShadowPodWriter& writer,
               OrderMemories& memories);

  /// How a Pod was made.
  struct Made {
    kube::Outcome outcome;                      ///< how the reconcile ends
    std::optional<kube::Object> stranger = {};  ///< the Pod of that name, which was not made for a ShadowPod
  };
  /// Makes the Pod. The caller holds both until it is done; the Pod says what it requests where its twin is bounded.
  asio::awaitable<Made> make(const kube::Object& shadow, kube::Object& pod);

 private:
  /// Whether the Pod may be sent; else how the reconcile ends.
  asio::awaitable<std::optional<kube::Outcome>> bound(const kube::Object& shadow, kube::Object& pod);
  /// A Pod in a twin whose pods are bounded waits until they are counted.
  asio::awaitable<kube::Outcome> await_bounds(const kube::Object& shadow);
  /// Notes on the Pod, for its home, what the API server did not store of it. Nothing is noted later where the write
  /// fails or the process ends before, or where the answer to the create came late: only that answer shows the loss.
  asio::awaitable<kube::Outcome> note_lost_fields(kube::Object pod, std::vector<std::string> lost);
  /// What is to be done where the API server has refused the Pod.
  asio::awaitable<kube::Outcome> take_refusal(const kube::Object& shadow, kube::Failure failure);

  Context context_;
  TwinConsumers& consumers_;
  BoundedTwins& bounded_;
  ShadowPodWriter& writer_;
  OrderMemories& memories_;
  kube::InformerHandle pods_;
};

}  // namespace liqo::controllers
