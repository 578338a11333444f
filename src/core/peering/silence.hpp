// Judges at home whether a provider acts, by what it has been asked for and by whether anybody leads there.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The Lease by which the replicas of liqod agree on who leads, in Liqo's namespace.
inline constexpr std::string_view leader_lease = "liqod";
/// On a ForeignCluster: the namespace of Liqo there, if it is another one than `liqo`.
inline constexpr std::string_view remote_liqo_namespace = "liqo.io/remote-liqo-namespace";
/// The ClusterRole that lets a consumer read that Lease, and its binding to user `consumer` in that namespace.
inline constexpr std::string_view remote_leader_role = "liqo-remote-leader";
kube::Object forge_leader_binding(std::string_view liqo_namespace, std::string_view consumer);
/// Reason of conditions and Events about a provider that does not act.
inline constexpr std::string_view provider_silent = "ProviderSilent";
/// How long an order may wait before home asks why.
inline constexpr kube::Duration order_patience = std::chrono::seconds(10);

/// A time on both clocks.
struct Moment {
  kube::TimePoint at{};
  kube::WallTime wall{};
};

/// The orders of one part of home that a provider has not acted upon.
class OpenOrders {
 public:
  enum class End {
    acted,      ///< the provider has done it, or has said why it does not
    withdrawn,  ///< home does not want it any more
  };
  /// Notes that an order waits from now on; one that waits already keeps its time.
  void open(std::string_view order, Moment now) { waiting_.try_emplace(std::string(order), now); }
  /// The order waits no longer.
  void close(std::string_view order, End how, kube::TimePoint now);
  /// Drops all of them: nobody counts them here any more.
  void clear() { waiting_.clear(); }

  bool is_empty() const { return waiting_.empty(); }
  std::size_t size() const { return waiting_.size(); }
  /// Since when an order waits; null = it does not.
  const Moment* since(std::string_view order) const;
  /// Those that were opened at that time or later.
  struct Part {
    std::size_t count = 0;
    std::optional<Moment> oldest;  ///< since when the oldest one waits; nothing = none does
  };
  Part opened_from(kube::TimePoint begin) const;
  /// When the provider last acted upon one; nothing = it never did.
  const std::optional<kube::TimePoint>& acted() const { return acted_; }

 private:
  std::map<std::string, Moment, std::less<>> waiting_;
  std::optional<kube::TimePoint> acted_;
};

/// What waits for a provider, of all parts of home together.
struct OrdersSight {
  OpenOrders::Part all;
  std::optional<kube::TimePoint> acted;  ///< when the provider last acted upon one
  OpenOrders::Part fresh;                ///< those that were opened since then
};
OrdersSight sight_of(std::span<const OpenOrders* const> parts);

/// What a Lease says. The provider writes it, so each part is a claim.
struct LeaderSight {
  std::string holder;       ///< "" = nobody leads
  std::string renewed;      ///< the time of the last renewal, as it stands; compared, and shown if plausible
  kube::Duration duration;  ///< how long a renewal is good for, from 5 s to a minute
};
LeaderSight read_leader(const kube::Object& lease);

/// What is reported of a provider.
struct SilenceNote {
  std::string words;    ///< a sentence; "" = nothing is reported
  bool proven = false;  ///< nobody leads there
  bool closes = false;  ///< ... for so long that new pods are kept away
  bool operator==(const SilenceNote&) const = default;
};

/// The note as the message of a condition has it behind other words, and read from there.
std::string with_silence(std::string message, const SilenceNote& note);
SilenceNote silence_note(std::string_view message);
/// The note in the status of a ForeignCluster.
SilenceNote silence_note(const kube::Object& foreign_cluster);
/// The words of a note without the number of orders, for the many objects that are not written for each order.
std::string without_count(std::string_view words);

/// Judges one provider, which may write anything into its Lease: absence is proven by our own clock alone, and what is
/// reported changes at a bounded rate, the number of orders in it every half minute. Pure: the owner looks at the Lease
/// when is_look_due() says so, and calls see() from time to time.
///
/// Proven absent: two looks in a row, and all between them, found that nobody holds the Lease, or that it was not
/// renewed for its duration, while no order was acted upon. A report stays until an order is acted upon, the Lease is
/// renewed in two looks in a row, no look succeeds for a minute, or nothing waits for six hours. A Lease that was stale
/// while orders were acted upon proves nothing until it is renewed. Without a proof only orders count that were opened
/// after the provider last acted: it may leave an older one for reasons of its own.
class SilenceJudge {
 public:
  explicit SilenceJudge(std::string cluster) : cluster_(std::move(cluster)) {}

  /// Takes what an earlier judge has reported. If that closes the Node, the Lease is looked at without an order, and a
  /// proof closes the Node at once.
  void resume(const SilenceNote& standing) { resumes_ = standing.closes; }
  /// Takes what waits, and whether the provider's API server answers.
  void see(const OrdersSight& orders, bool answers, Moment now);
  /// Whether a look at the Lease is due. The Lease is not looked at while nothing waits for too long and nothing is
  /// reported, unless the provider has come back a moment ago.
  bool is_look_due(kube::TimePoint now) const;
  /// A look that was begun at `asked` has succeeded.
  void looked(const LeaderSight& leader, kube::TimePoint asked, Moment now);
  /// Why a look has found nothing.
  enum class NoLook {
    hidden,  ///< the provider has no Lease for us
    failed,  ///< a fault, which may pass
  };
  void not_looked(NoLook why, Moment now);

  /// What is reported.
  const SilenceNote& note() const { return note_; }
  /// Whether there was time enough to find out: before that, an empty note withdraws nothing that was reported before.
  bool is_settled(kube::TimePoint now) const;
  /// Whether orders are to be tried again at once, because the provider has come back: its Lease is renewed again, or
  /// it acts. They are tried again at each sign of it for half a minute, because webhooks answer later than a Lease is
  /// taken. The call resets it.
  bool take_wake() { return std::exchange(wake_, false); }

 private:
  /// A run of equal looks.
  struct Run {
    LeaderSight leader;
    Moment first;            ///< when the first one was answered
    kube::TimePoint last{};  ///< when the last one was begun
    int renewals = 0;        ///< looks in a row, up to the last one, that found the Lease renewed
  };
  bool waits(kube::TimePoint now) const;
  /// Whether an order that was opened after the provider last acted waits for too long.
  bool waits_anew(kube::TimePoint now) const;
  bool is_resting(kube::TimePoint now) const;
  bool is_stale() const;
  /// Whether two looks in a row have found the same renewal: whoever leads renews more often.
  bool is_still() const { return run_ && run_->last > run_->first.at; }
  /// Whether the provider has come back a moment ago, and something waits for it.
  bool is_back() const { return returned_at_ && orders_.all.count > 0; }
  void note_return(kube::TimePoint now);
  bool is_proven(kube::TimePoint now) const;
  bool is_unreadable(kube::TimePoint now) const;
  void report(bool proven, Moment now);
  void withdraw_report(kube::TimePoint now);
  void judge(Moment now);
  void judge_reported(Moment now);
  /// Since when nobody is seen to be there.
  kube::WallTime absent_since(bool proven) const;
  /// Has the note say how many orders wait, since `absent_since_`.
  void count(bool proven, Moment now);
  std::size_t count_of(bool proven) const { return proven ? orders_.all.count : orders_.fresh.count; }

  std::string cluster_;
  OrdersSight orders_;
  bool answers_ = false;
  bool resumes_ = false;  ///< an earlier judge has closed the Node, and this one does not know yet
  std::optional<kube::TimePoint> began_;
  std::optional<Run> run_;
  std::optional<std::string> void_;               ///< the renewal of a Lease that proves nothing
  std::optional<kube::TimePoint> tried_;          ///< the last look
  std::optional<kube::TimePoint> failing_since_;  ///< since when every look finds nothing
  bool hidden_ = false;                           ///< ... the last one because there is no Lease for us
  std::optional<kube::TimePoint> blind_since_;    ///< since when no look succeeds, or none can be tried
  std::optional<kube::TimePoint> idle_since_;     ///< since when nothing waits
  SilenceNote note_;
  kube::WallTime absent_since_{};               ///< of `note_`
  std::size_t reported_count_ = 0;              ///< how many wait, as `note_` has it
  kube::TimePoint counted_at_{};                ///< when `note_` was given that number
  std::optional<kube::TimePoint> reported_at_;  ///< of `note_`
  kube::TimePoint proven_at_{};
  std::optional<kube::TimePoint> withdrawn_at_;
  kube::Duration pause_{};                      ///< until the next report, from `withdrawn_at_` on
  std::optional<kube::TimePoint> back_at_;      ///< when the Lease was renewed again after a proof
  std::optional<kube::TimePoint> returned_at_;  ///< when the provider was seen to be back, for which orders are woken
  bool wake_ = false;
};

}  // namespace liqo::core
