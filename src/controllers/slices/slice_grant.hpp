// The provider's half of a slice: how much is granted, and the Quota that bounds it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "controllers/peering/tenant_namespace.hpp"
#include "controllers/slices/node_platforms.hpp"
#include "controllers/slices/shared_capacity.hpp"
#include "core/slices/grant.hpp"
#include "core/slices/quota.hpp"
#include "kube/runtime/controller.hpp"
#include "quota/quota_ledger.hpp"

namespace liqo::controllers {

/// Decides on the resources of every slice that a consumer has sent, keeps its Quota, and answers in its status. The
/// Quota of a slice of a custom class follows what the controller of that class accepts.
///
/// Guarantees: the Quota is written before the status, so that nobody uses what is not bounded yet. Decisions follow
/// what is recorded on the Quota, and never the status, which others may tamper with. A Quota that somebody deletes is
/// made again with what was recorded on it, as long as this process remembers that. The Quotas of a cordoned tenant,
/// and that of a cordoned slice, are cordoned, whatever becomes of a request. Where a policy bounds a consumer as a
/// whole, a grant leaves alone what the pods of its other slices hold, also beyond their grants. One thread.
class SliceGrantController final : public Runnable {
 public:
  /// `ledger`, which outlives this, knows what pods hold; null: Quotas bind nobody, and only grants are bounded.
  SliceGrantController(TenantNamespaces& namespaces, Context context, quota::QuotaLedger* ledger);
  ~SliceGrantController() override;

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  struct Memory {
    std::string uid;
    std::optional<core::PendingShare> pending;
    std::optional<core::SliceRecord> record = {};  ///< that its Quota had last
    core::Resources granting;                      ///< by the last decisions; the Quota may not be written yet
    kube::TimePoint in_doubt_until{};  ///< a write of the Quota has failed, and may be carried out until then
    /// When a refusal of amounts was told last, and the generation that it was told of: its figures change all the
    /// time.
    kube::TimePoint refused_at{};
    std::int64_t refused = 0;
    std::optional<kube::TimePoint> waits_since = {};   ///< it is not known what the other slices hold
    std::optional<kube::TimePoint> wait_told_at = {};  ///< when people were told so last
    bool drain_told = false;  ///< our denial of a custom class was written, and its controller may overwrite it
  };
  /// A slice, what it has, and what is decided about it.
  struct Look {
    kube::Object slice;
    std::string peer;                              ///< whose tenant namespace it is in
    std::optional<kube::Object> quota = {};        ///< its own
    std::optional<core::SliceRecord> before = {};  ///< recorded on the Quota, or on one that somebody has deleted
    core::GrantPlan plan = {};
    core::QuotaWish wish = {};
    core::GrantLimits limits = {};  ///< where `is_judged`
    bool is_judged = false;         ///< `plan` is about the request, and not only that all stays
    /// Why the request is not looked at, for an Event.
    struct Warning {
      std::string_view reason;
      std::string message;
    };
    std::optional<Warning> warning = {};
  };
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  /// Looks the slice up and decides about it. Nothing: there is nothing to do before `end`.
  asio::awaitable<std::optional<Look>> look_at(kube::ObjectKey key, kube::Outcome& end);
  /// What is remembered of a slice that is gone, or no consumer's any more, goes once no write for it can come late.
  kube::Outcome forget(const kube::ObjectKey& key);
  /// Carries out what was decided.
  asio::awaitable<kube::Outcome> carry_out(Look look);
  /// Whether more is granted than before of something that is bounded for all slices of the consumer together.
  static bool adds_to_bound(const Look& look);
  /// Decides from the caches and from what is remembered. Tells and remembers nothing.
  void decide(Look& look) const;
  /// Remembers what was decided for the next look, and for other slices that are decided meanwhile.
  void remember(const Look& look);
  /// Sets what counts as granted to the slice. Others may get more where it is less than before.
  void set_granting(const kube::ObjectKey& slice, core::Resources granting);
  /// Notes that a write of the slice's Quota may still be carried out.
  void leave_in_doubt(const kube::ObjectKey& slice);
  /// Comes back when no write of the slice's Quota is in doubt any more.
  kube::Outcome after_doubt(const kube::ObjectKey& slice, kube::Outcome end) const;
  /// Says to people what a slice waits for that is not told anything in its status, if it has waited for some time.
  void tell_waiting(const Look& look, kube::TimePoint since, const kube::Failure& why);
  /// Says in the status what was decided.
  asio::awaitable<kube::Outcome> answer(const Look& look);
  /// How long a refusal stays as it is told though its figures have changed; none where it is to be told now.
  kube::Duration quiet_time(const Look& look) const;
  /// Says so to people.
  void tell(const Look& look);
  /// Answers whether there was something to write.
  asio::awaitable<kube::Result<bool>> write_quota(kube::Object slice, std::optional<kube::Object> quota,
                                                  core::QuotaWish wish);
  asio::awaitable<kube::Result<void>> write_status(kube::Object slice, kube::json::object patch);
  /// Removes the Quota of an earlier slice of that name. Answers false where it belongs to something else.
  asio::awaitable<kube::Result<bool>> remove_stale(kube::Object slice, kube::Object quota);
  core::GrantPlan plan_grant(const Look& look, const kube::Object& tenant) const;
  std::optional<core::SliceRecord> foreign_record(const kube::Object& slice);
  /// What the policy of a consumer bounds, and what its other slices have.
  core::GrantLimits limits_of(const kube::ObjectKey& slice) const;
  /// What all slices of a consumer have but one, also those that are gone, by their users.
  std::map<std::string, core::SliceHold> holds_beside(const kube::ObjectKey& slice, const std::string& peer) const;
  kube::json::array storage_classes();
  void read_policy();
  /// Says at the settings that the StorageClass which they name is not there. Nobody else at the provider sees it.
  void tell_missing_class();
  /// Reads what a Tenant says of its own share.
  void see_tenant(const kube::Change& change);
  void see_slice(const kube::Change& change);
  void enqueue(const kube::ObjectKey& slice) { controller_.enqueue({slice.ns, slice}); }
  /// Decides again about slices that may get more when others have less: those of a namespace, or all of them.
  void see_less(std::string_view ns);
  void see_use();
  /// How many slices of class "share" the consumer of that tenant namespace has.
  int share_slices_of(std::string_view ns) const;

  Context context_;
  TenantNamespaces& namespaces_;
  kube::InformerHandle slices_, tenants_, quotas_, config_, storage_classes_;
  core::ReadPolicy policy_;
  bool has_policy_ = false;  ///< `policy_` is what the ConfigMap says, and not the flags alone
  /// What the Tenants with an annotation about it say of their share, or said before it became unreadable.
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
