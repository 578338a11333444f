// Decides whether a Quota has room for a ShadowPod, and never admits more than it grants, whatever happens meanwhile.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/common/review.hpp"
#include "core/policy/pod_policy.hpp"
#include "core/quota/admission_round.hpp"
#include "core/slices/quota.hpp"
#include "kube/async/task_group.hpp"
#include "quota/desk_context.hpp"
#include "quota/record_sweeper.hpp"
#include "quota/recorded_reservations.hpp"
#include "quota/settle_rounds.hpp"
#include "quota/unrecorded_users.hpp"

namespace liqo::quota {

class QuotaDesk;

/// Decides whether a Quota has room for a pod. Every replica has a ledger and decides alone. What they must agree on is
/// in one ConfigMap per Quota, written with optimistic locking before the answer: the reservations of pods that are
/// admitted and not known to be stored. Stored pods are counted from the caches, which have to be as new as the
/// ConfigMap says (`LedgerRecord::floor`). The Quota itself is read live beside each write. The ledger has a QuotaDesk
/// for each Quota, which does all that.
///
/// Guarantees: every replica counts each admission at least once at every moment. Nothing is decided before every cache
/// is complete.
///
/// Failures: a crash at any point leaves at most a reservation that expires. One thread.
class QuotaLedger {
 public:
  /// `replica_api`, which outlives this, reads and writes the records: every replica may.
  QuotaLedger(LedgerContext context, kube::Api& replica_api, LedgerSettings settings);
  ~QuotaLedger();

  /// Serves until cancelled. What waits then is answered `unavailable`.
  asio::awaitable<void> run();
  /// True once run() runs, every cache that decisions need is complete, and what is stored has been counted.
  bool has_synced() const { return running_ && context_.has_synced(); }

  /// Answers the admission of a ShadowPod that has passed everything else: form, origin, creator and the pod firewall.
  /// `policy` is its consumer's, `claimant` who asks to reserve. Asked last, so nothing of ours refuses afterwards (the
  /// API server still may). Deletions are not asked about: they always pass, and are seen by watching. The request must
  /// outlive the call.
  asio::awaitable<core::admission::Answer> answer(const core::admission::Request& request,
                                                  const core::admission::PodPolicy& policy, core::Claimant claimant);

  /// Decides whether the Quota of a ShadowPod has room for it. The ShadowPod carries its UID, which may be asked about
  /// again, and the labels of its creator and origin, both checked. `before` is what is stored of it, null where it is
  /// new: what it takes more than before is reserved until it is seen stored so, and what it takes less is free once
  /// its Pod has given it back. Both must outlive the call. What is admitted has been recorded, unless it is a dry run.
  /// A dry run of a caller that is not proven is held back, because it would be a question that costs nothing.
  /// Cancellable: a record whose write has not begun by then is not written.
  asio::awaitable<core::QuotaVerdict> decide_on(const kube::Object& shadow_pod, const kube::Object* before,
                                                bool dry_run, core::Claimant claimant);

  /// What is stored of the ShadowPods of a consumer; those that are on their way are not in it.
  StoredAmount stored(const std::string& origin) const { return context_.stored.amount_of(origin); }

  /// Called with the address that asked first for a ShadowPod which has been stored since: only an API server knows the
  /// UID of what is not stored yet. Must not suspend. One reader.
  void on_confirmed(std::function<void(const std::string& address)> handler) { confirmed_ = std::move(handler); }

  /// What the pods of a Quota hold, for people to see: stored ones, and those that any replica has admitted.
  core::QuotaUsage usage(const kube::ObjectKey& quota) const;
  /// What each user of a consumer holds, stored or reserved; of one whose Quota is gone, too. A Quota bears the name of
  /// its user. As the caches and the records say: settle() brings them up to date.
  std::map<std::string, core::Resources> held_by(const std::string& consumer, std::string_view tenant_namespace) const;
  /// Brings to the present what held_by() answers for the consumer of a tenant namespace, and has every replica decide
  /// by the Quotas there from now on: what a user holds beyond what its Quota grants now can only become less. It
  /// writes to the record of each Quota that has changed since the last decision or call. Calls for one tenant
  /// namespace that come together share one round, and a round begins a second after the one before at the earliest.
  /// Errors: those of the API server, and Errc::timeout where the caches are behind.
  asio::awaitable<kube::Result<void>> settle(std::string tenant_namespace);
  /// How long a settle() that is called now would wait for the beginning of its round: for callers who have something
  /// else to do meanwhile.
  kube::Duration settles_in(const std::string& tenant_namespace) const { return rounds_.begins_in(tenant_namespace); }

  using UsageReader = std::list<std::function<void()>>::const_iterator;
  /// Called, and often, when what usage() or held_by() answers may have changed. Must not suspend.
  UsageReader on_usage_change(std::function<void()> handler) {
    return usage_changed_.insert(usage_changed_.end(), std::move(handler));
  }
  /// Ends that.
  void forget(UsageReader reader) { usage_changed_.erase(reader); }

 private:
  QuotaDesk& open_desk(const kube::ObjectKey& quota);
  /// Serves a desk, and takes it away when it is over.
  asio::awaitable<void> serve(QuotaDesk& desk, kube::ObjectKey quota);
  /// Opens the desks of all records: what a replica that is gone has left in them must expire.
  asio::awaitable<void> open_desks();
  /// Has the desk of a record that has changed take it over, and opens it before if need be.
  void open_desk_of(const kube::ObjectKey& record);
  /// One round of settle().
  asio::awaitable<kube::Result<void>> settle_now(std::string tenant_namespace);
  /// A ShadowPod was seen stored.
  void confirm(const kube::ObjectKey& pod, const core::HeldShadow& shadow);
  /// Counts what was said; `quota` is null if there is none.
  void count(const core::QuotaVerdict& verdict, const kube::ObjectKey* quota);
  /// Ends what runs, and answers whoever still waits.
  asio::awaitable<void> close();
  void tell_usage() const {
    for (const auto& handler : usage_changed_) handler();
  }

  std::list<std::function<void()>> usage_changed_;
  std::function<void(const std::string&)> confirmed_;
  DeskContext context_;
  RecordedReservations recorded_;
  UnrecordedUsers unrecorded_users_;
  RecordSweeper sweeper_;
  SettleRounds rounds_;
  std::map<kube::ObjectKey, std::unique_ptr<QuotaDesk>> desks_;
  std::map<std::string, kube::ObjectKey> quota_of_record_;  ///< by the name of the ConfigMap, which is made from it
  kube::async::TaskGroup group_;
  bool running_ = false;
};

}  // namespace liqo::quota
