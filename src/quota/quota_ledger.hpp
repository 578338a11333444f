// Decides whether a Quota has room for a ShadowPod, and never admits more than it grants.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/admission/review.hpp"
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

/// Decides whether a Quota has room for a pod. Every replica has a ledger and decides alone. The replicas agree by one
/// ConfigMap per Quota, which is written with optimistic locking before the answer: it has the reservations of pods
/// that are admitted and not known to be stored. Stored pods are counted from the caches, which have to be as new as
/// the ConfigMap requires (`LedgerRecord::floor`). The Quota itself is read live during each write. The ledger has a
/// QuotaDesk for each Quota, which does all that.
///
/// Guarantees: every replica counts each admission at least once at every moment. Nothing is decided before every cache
/// is complete.
///
/// Failures: a crash at any point leaves at most a reservation that expires. One thread.
class QuotaLedger {
 public:
  /// `replica_api`, which outlives this, reads and writes the records: every replica may use it.
  QuotaLedger(LedgerContext context, kube::Api& replica_api, LedgerSettings settings);
  ~QuotaLedger();

  /// Serves until cancelled. Waiting admissions are then answered `unavailable`.
  asio::awaitable<void> run();
  /// True once run() runs, every cache that decisions need is complete, and all stored pods have been counted.
  bool has_synced() const { return running_ && context_.has_synced(); }

  /// Answers the admission of a ShadowPod that has passed all other checks: form, origin, creator and the pod firewall.
  /// `policy` is its consumer's, `claimant` the caller. This check comes last, so no check of ours refuses afterwards
  /// (the API server still may). It is not called for deletions: they always pass, and the watch shows them. The
  /// request must outlive the call.
  asio::awaitable<core::admission::Answer> answer(const core::admission::Request& request,
                                                  const core::PodPolicy& policy, core::Claimant claimant);

  /// Decides whether the Quota of a ShadowPod has room for it. The ShadowPod has its UID, about which callers may ask
  /// again, and the labels of its creator and origin, both checked. `before` is its stored state, null if it is new. An
  /// increase over `before` is reserved until it is seen stored; a decrease is free once its Pod has given it back.
  /// Both must outlive the call. An admitted ShadowPod has been recorded, unless it is a dry run. A dry run of an
  /// unproven caller is held back, because it would cost the caller nothing. Cancellable: a record whose write has not
  /// begun by then is not written.
  asio::awaitable<core::QuotaVerdict> decide_on(const kube::Object& shadow_pod, const kube::Object* before,
                                                bool dry_run, core::Claimant claimant);

  /// The amount of stored ShadowPods of a consumer; admitted ones that are not stored yet do not count.
  StoredAmount stored(const std::string& origin) const { return context_.stored.amount_of(origin); }

  /// Sets the handler that is called with the address which was the first to ask about a ShadowPod that has been stored
  /// since: only an API server knows the UID of a ShadowPod that is not stored yet. Must not suspend. One reader.
  void on_confirmed(std::function<void(const std::string& address)> handler) { confirmed_ = std::move(handler); }

  /// The usage of a Quota, for display: by stored pods, and by those that any replica has admitted.
  core::QuotaUsage usage(const kube::ObjectKey& quota) const;
  /// What each user of a consumer holds, stored or reserved, including users whose Quota is gone. A Quota has the name
  /// of its user. The result is as new as the caches and the records: settle() brings them up to date.
  std::map<std::string, core::Resources> held_by(const std::string& consumer, std::string_view tenant_namespace) const;
  /// Brings held_by() up to date for the consumer of a tenant namespace, and makes every replica decide by the present
  /// Quotas there from now on. What a user holds beyond the grant of its Quota can then only decrease. It writes to the
  /// record of each Quota that has changed since the last decision or call. Concurrent calls for one tenant namespace
  /// share one round, and a round begins at the earliest a second after the one before. Errors: those of the API
  /// server, and Errc::timeout if the caches are behind.
  asio::awaitable<kube::Result<void>> settle(std::string tenant_namespace);
  /// How long a settle() that is called now would wait for its round to begin: for callers with other work to do
  /// meanwhile.
  kube::Duration settles_in(const std::string& tenant_namespace) const { return rounds_.begins_in(tenant_namespace); }

  using UsageReader = std::list<std::function<void()>>::const_iterator;
  /// Adds a handler that is called, often, when the result of usage() or held_by() may have changed. Must not suspend.
  UsageReader on_usage_change(std::function<void()> handler) {
    return usage_changed_.insert(usage_changed_.end(), std::move(handler));
  }
  /// Removes the handler.
  void forget(UsageReader reader) { usage_changed_.erase(reader); }

 private:
  QuotaDesk& open_desk(const kube::ObjectKey& quota);
  /// Serves a desk, and removes it when that has ended.
  asio::awaitable<void> serve(QuotaDesk& desk, kube::ObjectKey quota);
  /// Opens the desks of all records: reservations that a dead replica has left in them must expire.
  asio::awaitable<void> open_desks();
  /// Makes the desk of a changed record take it over, and opens the desk first if need be.
  void open_desk_of(const kube::ObjectKey& record);
  /// One round of settle().
  asio::awaitable<kube::Result<void>> settle_now(std::string tenant_namespace);
  /// Notes that a ShadowPod was seen stored.
  void confirm(const kube::ObjectKey& pod, const core::HeldShadow& shadow);
  /// Counts a verdict; `quota` is null if there is none.
  void count(const core::QuotaVerdict& verdict, const kube::ObjectKey* quota);
  /// Ends all work, and answers all callers that still wait.
  asio::awaitable<void> close();
  void notify_usage() const {
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
  std::map<std::string, kube::ObjectKey> quota_of_record_;  ///< by the name of the ConfigMap, which it determines
  kube::async::TaskGroup group_;
  bool running_ = false;
};

}  // namespace liqo::quota
