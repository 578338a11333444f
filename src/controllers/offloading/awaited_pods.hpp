// The pods that wait for a provider to act, and what they say meanwhile.
// Tested by test/unit/controllers/peering/silence_watch_test.cpp.
#pragma once

#include <cstddef>
#include <set>

#include "controllers/links/provider_orders.hpp"
#include "controllers/offloading/offloading_node.hpp"
#include "controllers/offloading/pod_status_writer.hpp"
#include "controllers/offloading/pod_twins.hpp"
#include "core/peering/silence.hpp"

namespace liqo::controllers {

/// Knows which pods the provider has been asked for and has not answered, and has them say why nothing comes of it: it
/// is silent, or its API server cannot take them. One thread.
class AwaitedPods {
 public:
  /// All outlive this.
  AwaitedPods(OffloadingNode& node, PodTwins& twins, PodStatusWriter& statuses);

  /// Takes what is told of a provider that does not act.
  void set_silence(core::SilenceNote silence);
  /// Forgets all of them: this process begins to lead.
  void clear();
  /// Notes whether the pod waits for the provider to act, and has it say why it does.
  asio::awaitable<kube::Result<void>> see(kube::ObjectKey key);
  /// The pod waits no longer.
  void stop(const kube::ObjectKey& key, core::OpenOrders::End how);
  /// Notes whether the provider's API server could take an order of the pod; null = it has.
  void note_taking(const kube::Object& local, const kube::Failure* failure);

 private:
  /// Has the pods that wait for the provider tried again.
  void wake();
  /// Forgets that the server could not take the last order of the pod. One such pod is tried every few seconds, and the
  /// first success wakes the others.
  void stop_trying(const kube::ObjectKey& key);
  /// Has a pod that waits say why, unless it says so, or said something a moment ago.
  asio::awaitable<kube::Result<void>> tell(kube::Object local);

  OffloadingNode& node_;
  PodTwins& twins_;
  PodStatusWriter& statuses_;
  core::SilenceNote silence_;
  std::size_t silence_changes_ = 0;
  std::set<kube::ObjectKey> waiting_;    ///< pods that wait for the provider to act
  std::set<kube::ObjectKey> not_taken_;  ///< those of them whose last order the server there could not take
  OrderBook orders_;
};

}  // namespace liqo::controllers
