// The provider's half of offloading: ShadowPod → Pod, recreated when it is lost, never when it has finished.
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "controllers/common/context.hpp"
#include "controllers/common/runnable.hpp"
#include "core/common/resources.hpp"
#include "core/offloading/shadow_plan.hpp"
#include "kube/runtime/controller.hpp"
#include "quota/pod_surroundings.hpp"

namespace liqo::controllers {

/// Serves all consumers of this cluster; each has its share of the workers. The durable record of what has run is the
/// ShadowPod's `status.phase`: a restart at any moment neither runs a pod twice nor forgets one. One thread.
class ShadowPodController final : public Runnable {
 public:
  explicit ShadowPodController(Context context);

  asio::awaitable<void> run() override;
  bool has_synced() const override {
    return shadows_->has_synced() && pods_->has_synced() && namespaces_->has_synced();
  }
  bool is_busy() const override { return controller_.is_busy() || records_.is_busy(); }

 private:
  struct Memory {
    std::string uid;
    core::ShadowMemory plan;
    kube::TimePoint created_at{};
    kube::TimePoint in_doubt_until{};                  ///< for `ShadowMemory::create_in_doubt`
    std::string awaited;                               ///< UID of the pod whose node is waited for to report its end
    kube::TimePoint awaited_since{};                   ///< for `ShadowMemory::node_silent`
    std::optional<kube::TimePoint> told_at;            ///< when the refusal was last written on the ShadowPod
    std::optional<kube::TimePoint> unconfirmed_since;  ///< it came late, and its consumer has not confirmed it
    /// Since when its Pod waits for the bounds of its twin.
    std::optional<kube::TimePoint> waits_since;
    std::optional<kube::TimePoint> told_short;  ///< when an Event last said that there is no room for it
    /// When a refused resize of its Pod may be tried again, and the digest of the refused amounts.
    kube::TimePoint resize_again_at{};
    std::string resize_refused;
    bool resize_short = false;  ///< the resize was refused for lack of room in the bounds of its twin
  };
  /// What a twin's ResourceQuota for pods says.
  struct Bounds {
    std::string hard;
    core::Resources used;
    bool counted = false;
  };
  /// What is to be done about a pod whose ShadowPod is gone. `last`: the UID of the last ShadowPod that was seen there.
  asio::awaitable<kube::Outcome> release_orphan(kube::ObjectKey key, std::string last);
  /// Takes our finalizer off the pod, if it is there. `confirm_first`: not if the live ShadowPod is the pod's
  /// controller.
  asio::awaitable<kube::Result<void>> release(const kube::Object& pod, bool confirm_first);
  /// Writes on the ShadowPod why its pod is not made, unless it says so already or was written a moment ago.
  asio::awaitable<kube::Result<void>> tell(const kube::Object& shadow, std::string words);
  asio::awaitable<kube::Result<void>> write_told(kube::ObjectKey key, kube::json::object patch);
  /// A ShadowPod and its pod, and what is to be done about them.
  struct Look {
    kube::Object shadow;
    std::optional<kube::Object> pod;
    core::ShadowPlan plan;

    core::ShadowSight sight() const { return {shadow, pod ? &*pod : nullptr}; }
  };
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  /// Drops what is remembered of a ShadowPod that is gone, and releases its pod.
  asio::awaitable<kube::Outcome> forget(kube::ObjectKey key);
  /// Takes into the memory what caches and clock say.
  void remember(const kube::Object& shadow, const kube::Object* pod);
  /// How addresses of the API server of its home are mapped here, or how the reconcile ends where nobody knows yet.
  asio::awaitable<std::expected<core::IpMapping, kube::Outcome>> await_mapping(const kube::Object& shadow);
  /// Carries out the plan, of which there is an act() for each kind. The caller holds `look` until it is done.
  asio::awaitable<kube::Outcome> carry_out(Look& look);
  asio::awaitable<kube::Outcome> act(const Look& look, const core::shadow_action::Nothing& plan);
  asio::awaitable<kube::Outcome> act(const Look& look, const core::shadow_action::Refuse& plan);
  asio::awaitable<kube::Outcome> act(const Look& look, const core::shadow_action::LeaveForeign& plan);
  asio::awaitable<kube::Outcome> act(const Look& look, const core::shadow_action::Release& plan);
  asio::awaitable<kube::Outcome> act(const Look& look, const core::shadow_action::RemovePod& plan);
  asio::awaitable<kube::Outcome> act(const Look& look, const core::shadow_action::RecordLoss& plan);
  asio::awaitable<kube::Outcome> act(const Look& look, const core::shadow_action::AwaitConfirmation& plan);
  asio::awaitable<kube::Outcome> act(const Look& look, const core::shadow_action::AwaitCreate& plan);
  asio::awaitable<kube::Outcome> act(const Look& look, const core::shadow_action::AwaitPod& plan);
  asio::awaitable<kube::Outcome> act(const Look& look, core::shadow_action::Create& plan);
  asio::awaitable<kube::Outcome> act(const Look& look, core::shadow_action::Keep& plan);
  /// How a step of Keep has ended.
  struct Taken {
    std::optional<kube::Outcome> end = {};  ///< of the reconcile: no further step is taken
    /// When the ShadowPod is to be looked at again after all steps.
    std::optional<kube::Duration> again_after = {};
  };
  asio::awaitable<kube::Result<Taken>> take(const Look& look, core::shadow_action::Tell& step);
  asio::awaitable<kube::Result<Taken>> take(const Look& look, const core::shadow_action::PatchPod& step);
  asio::awaitable<kube::Result<Taken>> take(const Look& look, const core::shadow_action::Record& step);
  asio::awaitable<kube::Result<Taken>> take(const Look& look, const core::shadow_action::Release& step);
  asio::awaitable<kube::Result<Taken>> take(const Look& look, core::PodResize& step);
  asio::awaitable<kube::Result<Taken>> take(const Look& look, core::EphemeralAddition& step);
  asio::awaitable<kube::Result<Taken>> take(const Look& look, const core::shadow_action::AwaitNode& step);
  /// Whether the Pod may be sent, its containers saying what they request where its twin is bounded; else how the
  /// reconcile ends.
  asio::awaitable<std::optional<kube::Outcome>> bound(const kube::Object& shadow, kube::Object& pod);
  asio::awaitable<kube::Outcome> create(const kube::Object& shadow, const kube::Object& pod);
  asio::awaitable<kube::Outcome> refuse(const kube::Object& shadow, std::string words);
  asio::awaitable<kube::Result<void>> patch_pod(const kube::Object& shadow, const kube::json::object& patch);
  /// Patches the status of the ShadowPod; false where that is gone.
  asio::awaitable<kube::Result<bool>> write_record(kube::ObjectKey key, const kube::json::object& status);
  /// Schedules the record that the pod runs, which waits until no Pod is being made.
  void record_later(const kube::ObjectKey& key);
  /// Writes such a record. The key without a name stands for all of them, once no Pod is being made.
  asio::awaitable<kube::Outcome> record(kube::WorkKey work);
  /// What is to be done where the API server has refused the Pod.
  asio::awaitable<kube::Outcome> take_refusal(const kube::Object& shadow, kube::Failure failure);
  /// Adds an ephemeral container to the Pod, or notes there that the API server refuses it.
  asio::awaitable<kube::Result<void>> add_ephemeral(const kube::Object& shadow, const kube::Object& pod,
                                                    core::EphemeralAddition addition);
  /// Resizes the Pod, or notes there that it is refused. Answers after which time that is tried again; nothing where
  /// the change of the Pod brings it back.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> resize(const kube::Object& shadow,
                                                                      const kube::Object& pod, core::PodResize plan);
  /// A Pod in a twin whose pods are bounded waits until they are counted.
  asio::awaitable<kube::Outcome> await_bounds(const kube::Object& shadow);
  void see_bounds(const kube::Change& quota);
  /// Tries those Pods again that wait in twins whose policy may be another one now.
  void see_namespace(const kube::Change& ns);
  /// Tries at most so many of the Pods again that wait for the bounds of a twin.
  void wake(const std::string& twin, std::size_t max_keys);
  void stop_waiting(const kube::ObjectKey& key);
  void enqueue(const kube::ObjectKey& key);
  void enqueue_all();
  /// The cluster ID of the consumer that a twin namespace belongs to, "" where it is nobody's.
  std::string consumer_of(std::string_view twin) const;
  /// The policy of the consumer that a twin namespace belongs to. One that cannot be understood is the strict one here:
  /// admission lets nothing new in by it.
  const core::admission::PodPolicy& policy_of(const std::string& twin);

  /// Whether the ShadowPod may be older than what this process has seen of it.
  bool is_inherited(const kube::Object& shadow) const;
  /// How the pod finds the API server of its home from here. Errors: that is in the network of the consumer, which is
  /// not ready.
  kube::Result<core::IpMapping> api_server_mapping(const kube::Object& shadow) const;

  Context context_;
  kube::InformerHandle shadows_, pods_, namespaces_, quotas_, configurations_;
  std::optional<quota::PodSurroundings> surroundings_;                    ///< made when the first twin has bounded pods
  std::map<std::string, Bounds> bounds_;                                  ///< by twin, of those whose pods are bounded
  std::map<std::string, std::set<kube::ObjectKey>> short_;                ///< by twin, what waits for its bounds
  std::unordered_map<std::string, core::admission::PodPolicy> policies_;  ///< by twin, until what decides it changes
  std::unordered_map<kube::ObjectKey, Memory> memory_;
  std::unordered_map<kube::ObjectKey, std::string> released_;  ///< UIDs of released pods that are still in the cache
  std::set<kube::ObjectKey> unrecorded_;                       ///< ShadowPods whose record waits
  kube::Metrics::Reading unrecorded_shown_;
  kube::TimePoint busy_at_{};  ///< when the last Pod was made, or seen to run
  kube::TimePoint begun_{};    ///< since when only this process has made Pods
  kube::Controller controller_, records_;
};

}  // namespace liqo::controllers
