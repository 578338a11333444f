// The pods that wait for a provider to act, and the reasons that they show meanwhile.
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

/// Knows which pods the provider has not acted on, and writes into their status why: the provider is silent, or its API
/// server cannot take the orders. One thread.
class AwaitedPods {
 public:
  /// All outlive this.
  AwaitedPods(OffloadingNode& node, PodTwins& twins, PodStatusWriter& statuses);

  /// Takes in the note about a provider that does not act.
  void set_silence(core::SilenceNote silence);
  /// Forgets all pods, because this process begins to lead.
  void clear();
  /// Notes whether the pod waits for the provider to act, and writes the reason into its status.
  asio::awaitable<kube::Result<void>> see(kube::ObjectKey key);
  /// The pod waits no longer.
  void stop(const kube::ObjectKey& key, core::OpenOrders::End how);
  /// Notes whether the provider's API server could take an order of the pod; null = it has.
  void note_taking(const kube::Object& local, const kube::Failure* failure);

 private:
  /// Has the pods that wait for the provider tried again.
  void wake();
  /// Forgets that the server could not take the last order of the pod. Of all such pods one is tried every few seconds,
  /// and the first success wakes the others.
  void stop_trying(const kube::ObjectKey& key);
  /// Writes into the status of a waiting pod why it waits, unless it says so already, or another reason was written a
  /// moment ago.
  asio::awaitable<kube::Result<void>> report(kube::Object local);

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
