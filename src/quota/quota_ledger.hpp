// Decides whether a Quota has room for a ShadowPod, and never admits more than it grants, whatever happens meanwhile.
#pragma once

#include <deque>
#include <expected>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/common/review.hpp"
#include "core/policy/pod_policy.hpp"
#include "core/quota/admission_round.hpp"
#include "core/slices/quota.hpp"
#include "kube/async/task_group.hpp"
#include "quota/ledger_context.hpp"
#include "quota/stored_pods.hpp"

namespace liqo::quota {

/// Times of the ledger, and how it counts.
struct LedgerSettings {
  /// How long the API server may work on a request that was admitted (its --request-timeout). A reservation that is not
  /// seen stored is dropped this long and 10 s later, if a quorum read says that there is no such ShadowPod.
  kube::Duration request_timeout = std::chrono::seconds(60);
  /// The least time between two writes of one record: admissions that arrive meanwhile are recorded by one write, and
  /// the first after a pause does not wait. It is longer for a large record, because each write sends all of it.
  kube::Duration gather = std::chrono::milliseconds(20);
  /// How long an admission waits for its answer: the API server waits 10 s for the webhook, and the webhook's server 8.
  kube::Duration patience = std::chrono::seconds(7);
  core::Counting counting = core::Counting::exact;
};

/// Decides whether a Quota has room for a pod. Every replica has a ledger and decides alone. What they must agree on is
/// in one ConfigMap per Quota, written with optimistic locking before the answer: the reservations of pods that are
/// admitted and not known to be stored. Stored pods are counted from the caches, which have to be as new as the
/// ConfigMap says (`LedgerRecord::floor`). The Quota itself is read live beside each write.
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
  bool has_synced() const;

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
  StoredAmount stored(const std::string& origin) const { return stored_.amount_of(origin); }

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
  kube::Duration settles_in(const std::string& tenant_namespace) const;

  using UsageReader = std::list<std::function<void()>>::const_iterator;
  /// Called, and often, when what usage() or held_by() answers may have changed. Must not suspend.
  UsageReader on_usage_change(std::function<void()> handler) {
    return usage_changed_.insert(usage_changed_.end(), std::move(handler));
  }
  /// Ends that.
  void forget(UsageReader reader) { usage_changed_.erase(reader); }

 private:
  /// One admission on its way through a desk.
  struct Asked : core::QuotaQuestion {
    std::string user;                           ///< as the ShadowPod names it
    std::optional<core::QuotaVerdict> verdict;  ///< also where nobody waits any more
    kube::async::Event answered;
    explicit Asked(const asio::any_io_executor& executor) : answered(executor) {}
  };
  using Batch = std::vector<std::shared_ptr<Asked>>;
  /// One who waits in settle() for a desk.
  struct Settling {
    std::optional<kube::Result<void>> result;
    kube::async::Event answered;
    explicit Settling(const asio::any_io_executor& executor) : answered(executor) {}
  };
  /// What several callers wait for that one of them does.
  struct Round {
    kube::Result<void> result = kube::fail(kube::Errc::stopped, "whoever read what the slices hold was stopped");
    bool is_open = true;  ///< who comes now may wait for it
    kube::async::Event over;
    explicit Round(const asio::any_io_executor& executor) : over(executor) {}
  };
  /// While it lives, the round is under way: who waits is told, also where it was cancelled.
  class Doing {
   public:
    explicit Doing(std::shared_ptr<Round> round) : round_(std::move(round)) {}
    Doing(const Doing&) = delete;
    Doing& operator=(const Doing&) = delete;
    ~Doing() {
      round_->is_open = false;
      round_->over.set();
    }

   private:
    std::shared_ptr<Round> round_;
  };
  /// The rounds of settle() for one tenant namespace.
  struct Rounds {
    std::shared_ptr<Round> last;
    kube::TimePoint next{};  ///< no round begins before
  };
  /// A record that is being removed here. Another replica may have been faster, and have removed a newer one.
  struct Removal {
    bool is_done = false;  ///< it was this one that was removed
    bool is_gone = false;  ///< as the cache tells
  };
  /// What is known of the ShadowPods of users who have no record. Their versions were in the records that are gone, so
  /// that a leader who has removed those itself need not ask for them.
  struct Unrecorded {
    std::optional<std::uint64_t> listed;      ///< the newest of all ShadowPods, at a time since which `removed` is kept
    std::uint64_t removed = 0;                ///< the newest floor of the records that were removed here
    std::uint64_t lists = 0;                  ///< of the cache of records then
    std::uint64_t doubts = 0;                 ///< how often something was found out that makes `listed` worthless
    std::map<std::string, Removal> removing;  ///< by the UID of the record, until both are so
  };
  /// What one Quota's admissions are decided with.
  struct Desk {
    kube::ObjectKey quota;
    core::LedgerRecord record;
    std::size_t bytes = 0;  ///< of the record, as it was read or written last
    std::string version;    ///< resourceVersion of the ConfigMap, "" = it does not exist
    bool known = false;     ///< record and version are what was read or written last
    /// The floor that was listed while there was no record, and whether the present one is that and not listed anew.
    std::optional<std::uint64_t> listed_floor;
    bool is_floor_old = false;
    std::map<std::string, kube::TimePoint> since;  ///< when a reservation was first known here
    /// UIDs of pods whose reservation was decided by a cached Quota that another one had replaced before the write.
    /// They are checked again whenever a caller asks about them. They stay in the record, because another replica may
    /// have been asked too; a caller who is refused leaves a reservation that expires.
    std::set<std::string> doubtful;
    /// Old reservations of which a look at the pod told nothing, and the version of the server at that time: a cache
    /// that is as new tells.
    std::map<std::string, std::uint64_t> unclear;
    core::LargeClaims large;
    std::size_t unproven = 0;  ///< reservations of the record that callers asked for whom nothing had proven
    std::deque<std::shared_ptr<Asked>> queue;
    std::vector<std::shared_ptr<Settling>> settling;
    Batch batch;                              ///< those that are being decided
    std::optional<kube::Failure> unanswered;  ///< what the last write of the record failed by, where nobody was faster
    std::map<core::QuotaRefusal, kube::Counter> refusals;
    kube::async::Event wake;
    explicit Desk(const asio::any_io_executor& executor) : wake(executor) {}
  };

  /// A reservation of ours that nobody has seen stored yet.
  struct Unconfirmed {
    kube::ObjectKey quota, pod;
    std::string user, address;
    bool large = false;  ///< more than the share of unproven callers
  };

  /// What is asked of the desk, or what is said without asking it.
  std::expected<std::shared_ptr<Asked>, core::QuotaVerdict> question_of(const Desk& desk,
                                                                        const kube::Object& shadow_pod,
                                                                        const kube::Object* before,
                                                                        core::Claimant claimant);
  /// Has the desk decide, until the caller's time is over.
  asio::awaitable<core::QuotaVerdict> wait_for(Desk& desk, std::shared_ptr<Asked> asked);
  /// The version at which what was reserved for was seen stored; 0 = not yet.
  std::uint64_t stored_version(const std::string& key, const core::Reservation& reservation) const;
  /// Ends, and takes the desk away, where neither its Quota nor the record is there any more.
  asio::awaitable<void> serve(Desk& desk);
  bool is_over(const Desk& desk) const;
  /// What is reserved by the last known record of a Quota.
  core::Resources reserved_by(const kube::ObjectKey& quota) const;
  /// Answers everyone of the desk's batch.
  asio::awaitable<void> decide(Desk& desk);
  /// Answers who waits in settle().
  asio::awaitable<void> settle(Desk& desk);
  /// One round of settle().
  asio::awaitable<kube::Result<void>> settle_now(std::string tenant_namespace);
  /// Waits until the cache has what is stored of those users of whom no record says how new it has to be.
  asio::awaitable<kube::Result<void>> see_unrecorded();
  /// Finds out how new it has to be, where that is not known.
  asio::awaitable<kube::Result<void>> list_unrecorded();
  bool knows_unrecorded() const;
  void doubt_unrecorded();
  /// The record of that UID is gone from the cache.
  void see_removed(std::string_view uid);
  /// Removing the record of that UID here has ended.
  void see_removal_end(const std::string& uid, const kube::Result<void>& removed);
  /// Writes into the record by which Quota everybody has to decide from now on.
  asio::awaitable<kube::Result<void>> name_quota(Desk& desk);
  /// What a batch is decided from. The quota that the cache has decides, and is read live beside the write, so that one
  /// that was lowered or cordoned a moment ago binds already. What is said without a write needs a live one before.
  struct Look {
    std::optional<kube::Object> quota;
    bool is_live = false;      ///< the Quota was read from the server
    bool has_read = false;     ///< the record was, or was just written
    bool wants_live = !quota;  ///< the Quota is to be read from the server before the next round
    bool wants_floor = false;  ///< where there is no record, what is stored is to be listed before the next round
    /// What the record named when the Quota was read live last: it is no older than that.
    std::optional<core::QuotaVersion> named = {};
  };
  /// What a round has said to each, and what that needs before it is told.
  struct Said {
    std::vector<std::pair<Asked*, core::AdmissionRound::Decision>> to;
    bool needs_look = false, needs_write = false;
  };
  /// Brings the quota and the record up to date, and waits for the caches; or why nobody can be answered.
  asio::awaitable<std::optional<core::QuotaVerdict>> look_at(Desk& desk, Look& look);
  core::QuotaStanding standing_of(const Desk& desk, const kube::Object& quota, const core::LedgerRecord& record) const;
  Said ask_round(Desk& desk, core::AdmissionRound& round, bool is_live) const;
  /// Writes what a round has reserved. True: it stands by the Quota that it was decided by; false: to be decided anew.
  asio::awaitable<kube::Result<bool>> write_round(Desk& desk, Look& look, core::LedgerRecord record, const Said& said);
  /// Where there is no record, `may_be_old` has it take what was listed when it was last looked for: good enough to
  /// refuse by, because less may be counted than is stored, and not to write by.
  asio::awaitable<kube::Result<void>> read_record(Desk& desk, bool may_be_old = false);
  /// What a replica must have seen where there is no record (any more): the user's ShadowPods that are stored now.
  asio::awaitable<kube::Result<std::uint64_t>> stored_floor(const Desk& desk);
  /// The newest version of the ShadowPods that are stored now with these labels.
  asio::awaitable<kube::Result<std::uint64_t>> newest_stored(std::string label_selector);
  asio::awaitable<kube::Result<bool>> write_record(Desk& desk, core::LedgerRecord next);
  /// What the server said to a record, and to a read of the Quota beside it.
  struct Written {
    kube::Result<bool> record = false;                ///< false: another replica was faster
    std::optional<kube::Result<kube::Object>> quota;  ///< nothing where it was not read
  };
  /// write_record, and reads the Quota at the same time.
  asio::awaitable<Written> write_and_read(Desk& desk, core::LedgerRecord next);
  asio::awaitable<void> write_into(Written& written, Desk& desk, core::LedgerRecord next);
  asio::awaitable<void> read_into(Written& written, kube::ObjectKey quota);
  /// Waits until the cache has reached the floor of the record, which may be taken over meanwhile.
  asio::awaitable<bool> catch_up(const Desk& desk);
  asio::awaitable<bool> catch_up(std::function<std::uint64_t()> floor);
  /// For a cache that does not reach the floor: reads the record, and computes a floor anew that lies in the future of
  /// the server itself, as one does after its database was restored. Whether the cache has reached it now.
  asio::awaitable<bool> believe_server(Desk& desk);
  /// Drops reservations that nobody has stored in time. False: there are more to look at.
  asio::awaitable<bool> expire(Desk& desk);
  /// Which of the unclear ones are known to be gone: they are too old to be stored any more, and the cache is as new as
  /// the server was when they became so.
  asio::awaitable<std::set<std::string>> settle(Desk& desk, std::set<std::string> unclear);
  /// Drops what is seen stored from a record, and has the floor say so. How many there were.
  std::size_t drop_stored(core::LedgerRecord& record) const;
  asio::awaitable<void> sweep();
  /// Opens the desks of all records: what a replica that is gone has left in them must expire.
  asio::awaitable<void> open_desks();
  void open_desk_of(const kube::ObjectKey& record);
  /// Takes what another replica has written, as the watch tells it: without it the next write would be refused.
  void take_over(Desk& desk, const kube::ObjectKey& record);

  /// Opened where there is exactly one Quota; else why not.
  std::expected<Desk*, std::string> find_desk(const std::string& user, std::string_view origin);
  Desk& open_desk(const kube::ObjectKey& quota);
  core::Resources reserved(const core::LedgerRecord& record) const;
  void tell_usage() const {
    for (const auto& handler : usage_changed_) handler();
  }
  /// The record as it is stored now, with so many bytes.
  void adopt(Desk& desk, core::LedgerRecord record, std::string version, std::size_t bytes);
  /// Remembers who asked for what was written down just now.
  void watch_for(const Desk& desk, const Asked& asked, bool large);
  void confirm(const kube::ObjectKey& pod, const core::HeldShadow& shadow);
  /// Ends what runs, and answers whoever still waits.
  asio::awaitable<void> close();
  static void tell(Asked& asked, core::QuotaVerdict verdict);
  static void tell_all(const Batch& batch, const core::QuotaVerdict& verdict);
  /// Counts what was said; `quota` is null where there is none.
  void count(const core::QuotaVerdict& verdict, const kube::ObjectKey* quota);
  void count_refusal(Desk& desk, core::QuotaRefusal reason);

  LedgerContext context_;
  kube::Api& replica_api_;
  LedgerSettings settings_;
  std::list<std::function<void()>> usage_changed_;
  std::function<void(const std::string&)> confirmed_;
  StoredPods stored_;
  kube::InformerHandle quotas_, namespaces_, records_;
  std::map<kube::ObjectKey, std::unique_ptr<Desk>> desks_;
  std::map<std::string, kube::ObjectKey> quota_of_record_;  ///< by the name of the ConfigMap, which is made from it
  /// A record as it was last read, and what it reserved beside the ShadowPods of a version.
  struct Read {
    std::uint64_t version = 0, beside = 0;
    core::LedgerRecord record;
    core::Resources reserved;
  };
  mutable std::map<std::string, Read> read_;  ///< likewise
  std::map<std::string, Rounds> rounds_;      ///< by tenant namespace
  Unrecorded unrecorded_;
  std::shared_ptr<Round> listing_;                                         ///< the last list_unrecorded()
  std::unordered_map<std::string, Unconfirmed> unconfirmed_;               ///< by UID
  std::deque<std::pair<kube::TimePoint, std::string>> unconfirmed_since_;  ///< the oldest first
  std::map<std::string, kube::TimePoint> watched_for_;                     ///< proven addresses, and when last
  kube::async::Event quota_gone_;
  kube::async::TaskGroup group_;
  bool running_ = false;
  kube::Counter admitted_, refused_, unavailable_, held_back_, commits_, conflicts_, without_quota_;
  kube::Gauge unproven_;
  kube::Log log_;
};

}  // namespace liqo::quota
