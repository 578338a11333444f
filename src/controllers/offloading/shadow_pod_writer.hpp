// Writes the provider's reports on ShadowPods: why a Pod is not made, and in which phase it is.
// Tested by test/unit/controllers/offloading/shadow_pod_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <set>
#include <string>

#include "controllers/common/context.hpp"
#include "controllers/offloading/order_memories.hpp"
#include "controllers/offloading/twin_consumers.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Writes at once, except for the record that a pod runs: that waits until no Pod is being made. One thread.
class ShadowPodWriter {
 public:
  /// `consumers` and `memories` outlive this.
  ShadowPodWriter(Context context, TwinConsumers& consumers, OrderMemories& memories);

  /// Writes the records that wait.
  asio::awaitable<void> run() { return records_.run(); }
  bool is_busy() const { return records_.is_busy(); }

  /// Patches the status of the ShadowPod; false if that is gone.
  asio::awaitable<kube::Result<bool>> record(kube::ObjectKey key, const kube::json::object& status);
  /// Schedules the record that the pod runs.
  void record_later(const kube::ObjectKey& key);
  /// Drops the waiting record of this ShadowPod.
  void drop_record(const kube::ObjectKey& key) { unrecorded_.erase(key); }
  /// Drops all waiting records.
  void drop_records() { unrecorded_.clear(); }
  /// Notes that a Pod was made just now: records wait.
  void note_created(kube::TimePoint now) { busy_at_ = now; }

  /// Writes on the ShadowPod why its pod is not made, unless it says so already or was written a moment ago.
  asio::awaitable<kube::Result<void>> report(const kube::Object& shadow, std::string words);
  /// Writes such a patch (`refusal_patch`).
  asio::awaitable<kube::Result<void>> write_reported(kube::ObjectKey key, kube::json::object patch);
  /// Writes on the ShadowPod why its pod is not made, and reports it by an Event, too.
  asio::awaitable<kube::Outcome> refuse(const kube::Object& shadow, std::string words);

 private:
  /// Writes a record that waits. The key without a name stands for all of them, once no Pod is being made.
  asio::awaitable<kube::Outcome> write_late(kube::WorkKey work);

  Context context_;
  TwinConsumers& consumers_;
  OrderMemories& memories_;
  kube::InformerHandle shadows_, pods_;
  std::set<kube::ObjectKey> unrecorded_;  ///< ShadowPods whose record waits
  kube::Metrics::Reading unrecorded_shown_;
  kube::TimePoint busy_at_{};  ///< when the last Pod was made, or seen to run
  kube::Controller records_;
};

}  // namespace liqo::controllers
