// The provider's half of a slice: how much is granted, and the Quota that bounds it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "controllers/common/home_names.hpp"
#include "controllers/peering/tenant_namespace.hpp"
#include "controllers/slices/node_platforms.hpp"
#include "controllers/slices/shared_capacity.hpp"
#include "core/slices/grant.hpp"
#include "core/slices/quota.hpp"
#include "kube/runtime/controller.hpp"
#include "quota/quota_ledger.hpp"

namespace liqo::controllers {

/// Decides on the resources of every slice that a consumer has sent, keeps its Quota, and writes the decision into its
/// status. The Quota of a slice of a custom class follows what the controller of that class accepts.
///
/// Guarantees: the Quota is written before the status, so that no consumer uses resources that are not bounded yet.
/// Decisions follow what is recorded on the Quota, and never the status, which others may tamper with. A Quota that a
/// person deletes is created again with what was recorded on it, as long as this process remembers that. The Quotas of
/// a cordoned tenant, and that of a cordoned slice, are cordoned, whatever becomes of a request. If a policy bounds a
/// consumer as a whole, a grant leaves untouched what the pods of its other slices hold, even beyond their grants. One
/// thread.
class SliceGrantController final : public Runnable {
 public:
  /// `ledger`, which outlives this, knows what pods hold; null: Quotas are not enforced, and only grants are bounded.
  /// `names` outlives it, too.
  SliceGrantController(TenantNamespaces& namespaces, HomeNames& names, Context context, quota::QuotaLedger* ledger);
  ~SliceGrantController() override;

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  struct Memory {
    std::string uid;
    std::optional<core::PendingShare> pending;
    std::optional<core::SliceRecord> record = {};  ///< on its Quota, as of the last look
    core::Resources granting;                      ///< by the last decisions; the Quota may not be written yet
    kube::TimePoint in_doubt_until{};  ///< a write of the Quota has failed, and may still be carried out until then
    /// When a refusal of amounts was last reported, and for which generation: its figures change all the time.
    kube::TimePoint refused_at{};
    std::int64_t refused = 0;
    std::optional<kube::TimePoint> waits_since = {};       ///< since when it is not known what the other slices hold
    std::optional<kube::TimePoint> wait_reported_at = {};  ///< when that was last reported
    bool drain_reported = false;  ///< our denial of a custom class was written; its controller may overwrite it
  };
  /// A slice, its grant, and the decision about it.
  struct Snapshot {
    kube::Object slice;
    std::string peer;                              ///< whose tenant namespace it is in
    std::optional<kube::Object> quota = {};        ///< its own
    std::optional<core::SliceRecord> before = {};  ///< recorded on the Quota, or on one that was deleted
    core::GrantPlan plan = {};
    core::QuotaWish wish = {};
    core::GrantLimits limits = {};  ///< if `is_judged`
    bool is_judged = false;         ///< `plan` decides about the request, and does not only keep things as they are
    /// The reason for which the request is not looked at, for an Event.
    struct Warning {
      std::string_view reason;
      std::string message;
    };
    std::optional<Warning> warning = {};
  };
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  /// Looks the slice up and decides about it. Nothing: there is nothing to do before `end`.
  asio::awaitable<std::optional<Snapshot>> look_at(kube::ObjectKey key, kube::Outcome& end);
  /// Forgets a slice that is gone, or belongs to no consumer any more, once no late write for it is possible.
  kube::Outcome forget(const kube::ObjectKey& key);
  /// Carries out what was decided.
  asio::awaitable<kube::Outcome> carry_out(Snapshot snapshot);
  /// Whether more is granted than before of something that is bounded for all slices of the consumer together.
  static bool adds_to_bound(const Snapshot& snapshot);
  /// Decides from the caches and from what is remembered. Neither reports nor remembers anything.
  void decide(Snapshot& snapshot) const;
  /// Remembers the decision for the next look, and for other slices that are decided meanwhile.
  void remember(const Snapshot& snapshot);
  /// Sets what counts as granted to the slice. If it is less than before, others may get more.
  void set_granting(const kube::ObjectKey& slice, core::Resources granting);
  /// Notes that a write of the slice's Quota may still be carried out.
  void leave_in_doubt(const kube::ObjectKey& slice);
  /// Adds to the Outcome to come back when no write of the slice's Quota is in doubt any more.
  kube::Outcome after_doubt(const kube::ObjectKey& slice, kube::Outcome end) const;
  /// Reports what a slice waits for, if its status says nothing and it has waited for some time.
  void report_waiting(const Snapshot& snapshot, kube::TimePoint since, const kube::Failure& why);
  /// Writes the decision into the status.
  asio::awaitable<kube::Outcome> answer(const Snapshot& snapshot);
  /// How long a refusal stays as it was reported although its figures have changed; zero if it is to be reported now.
  kube::Duration quiet_time(const Snapshot& snapshot) const;
  /// Reports the decision.
  void report(const Snapshot& snapshot);
  /// Writes the Quota of the slice. Returns whether there was anything to write.
  asio::awaitable<kube::Result<bool>> write_quota(kube::Object slice, std::optional<kube::Object> quota,
                                                  core::QuotaWish wish);
  asio::awaitable<kube::Result<void>> write_status(kube::Object slice, kube::json::object patch);
  /// Removes the Quota of an earlier slice of that name. Returns false if it belongs to something else.
  asio::awaitable<kube::Result<bool>> remove_stale(kube::Object slice, kube::Object quota);
  core::GrantPlan plan_grant(const Snapshot& snapshot, const kube::Object& tenant) const;
  std::optional<core::SliceRecord> foreign_record(const kube::Object& slice);
  /// The bounds in the policy of a consumer, and what its other slices have.
  core::GrantLimits limits_of(const kube::ObjectKey& slice) const;
  /// What all slices of a consumer except one have, by their users; also those that are gone.
  std::map<std::string, core::SliceHold> holds_beside(const kube::ObjectKey& slice, const std::string& peer) const;
  kube::json::array storage_classes();
  void read_policy();
  /// Reports at the settings that the StorageClass which they name does not exist. The administrator sees this nowhere
  /// else.
  void report_missing_class();
  /// Reads the annotation of a Tenant about its share.
  void see_tenant(const kube::Change& change);
  void see_slice(const kube::Change& change);
  void enqueue(const kube::ObjectKey& slice) { controller_.enqueue({slice.ns, slice}); }
  /// Decides again about slices that may get more when others have less: those of a namespace, or all of them.
  void see_less(std::string_view ns);
  void see_use();
  /// The number of slices of class "share" that the consumer of that tenant namespace has.
  int share_slices_of(std::string_view ns) const;

  Context context_;
  TenantNamespaces& namespaces_;
  const HomeNames& names_;
  kube::InformerHandle slices_, tenants_, quotas_, config_, storage_classes_;
  core::ReadPolicy policy_;
  bool has_policy_ = false;  ///< `policy_` is that of the ConfigMap, and not of the flags alone
  /// The shares of Tenants with an annotation about them; if it became unreadable, the share that it had before.
  std::map<kube::ObjectKey, kube::Result<int>> percentages_;
  SharedCapacity capacity_;
  NodePlatforms platforms_;
  std::set<kube::ObjectKey> incoming_;      ///< slices of consumers
  std::set<kube::ObjectKey> share_slices_;  ///< those of them that are of class "share"
  std::unordered_map<kube::ObjectKey, Memory> memory_;
  std::set<kube::ObjectKey> short_;  ///< slices that might get more if others of their consumer had less
  kube::TimePoint use_seen_until_{};
  quota::QuotaLedger* ledger_;
  std::optional<quota::QuotaLedger::UsageReader> usage_reader_;
  kube::Controller controller_;
  kube::Log log_{"slice-grant"};
};

}  // namespace liqo::controllers
