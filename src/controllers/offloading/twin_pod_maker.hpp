// Makes the Pod of a ShadowPod at the provider, within the bounds of its twin.
// Tested by test/unit/controllers/offloading/shadow_pod_test.cpp.
// Tested by test/unit/controllers/namespaces/twin_pod_bounds_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/common/home_names.hpp"
#include "controllers/offloading/bounded_twins.hpp"
#include "controllers/offloading/order_memories.hpp"
#include "controllers/offloading/shadow_pod_writer.hpp"
#include "controllers/offloading/topology_notes.hpp"
#include "controllers/offloading/twin_consumers.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Makes Pods in twins. One thread.
class TwinPodMaker {
 public:
  /// The pause before a cache that was started just now is looked at again.
  static constexpr std::chrono::milliseconds cache_pause{200};

  /// What decides about Pods in a twin. They outlive the maker.
  struct Twins {
    TwinConsumers& consumers;
    const HomeNames& names;
    BoundedTwins& bounded;
  };
  /// `writer` and `memories` outlive this.
  TwinPodMaker(Context context, Twins twins, ShadowPodWriter& writer, OrderMemories& memories);

  /// The result of making a Pod.
  struct Made {
    kube::Outcome outcome;                     ///< how the reconcile ends
    std::optional<kube::Object> foreign = {};  ///< the Pod of that name, which was not made for a ShadowPod
  };
  /// Makes the Pod. The caller keeps both objects until this is done. If the twin is bounded, the requests of the Pod
  /// are filled in. Topology keys that no node has are noted on it.
  asio::awaitable<Made> make(const kube::Object& shadow, kube::Object& pod);

 private:
  /// Lets the Pod look up the names of its home, if its twin is to.
  void add_names(kube::Object& pod);
  /// Nothing if the Pod may be sent; otherwise the Outcome that ends the reconcile.
  asio::awaitable<std::optional<kube::Outcome>> bound(const kube::Object& shadow, kube::Object& pod);
  /// Waits with a Pod in a bounded twin until the pods there are counted.
  asio::awaitable<kube::Outcome> await_bounds(const kube::Object& shadow);
  /// Notes on the Pod, for its home, which fields the API server did not store. Only the answer to the create shows the
  /// loss: if that came late, if this write fails, or if the process ends before it, nothing is noted later.
  asio::awaitable<kube::Outcome> note_lost_fields(kube::Object pod, std::vector<std::string> lost);
  /// Handles a Pod that the API server has refused.
  asio::awaitable<kube::Outcome> take_refusal(const kube::Object& shadow, kube::Failure failure);

  Context context_;
  TwinConsumers& consumers_;
  const HomeNames& names_;
  BoundedTwins& bounded_;
  ShadowPodWriter& writer_;
  OrderMemories& memories_;
  TopologyNotes topology_;
  kube::InformerHandle pods_;
};

}  // namespace liqo::controllers
