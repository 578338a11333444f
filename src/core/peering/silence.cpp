#include "core/peering/silence.hpp"

#include <algorithm>
#include <utility>

#include "core/peering/clock_skew.hpp"
#include "kube/k8s/condition.hpp"

namespace liqo::core {
namespace {

using namespace std::chrono_literals;

/// What a Lease may claim about its duration.
constexpr kube::Duration min_duration = 5s, max_duration = 60s;
/// Between two looks: longer than a leader takes between two renewals, and shorter than people notice.
constexpr kube::Duration look_pause = 3s;
/// What lies between two looks that are further apart than this proves nothing: a server that was away has taken no
/// renewals. A look takes five seconds at most.
constexpr kube::Duration max_gap = 8s;
/// After the first without an order, the pause between two looks at the Lease behind a closed Node is the second.
constexpr kube::Duration rest_after = 10min, rest_pause = 1min;
/// How long after the first renewal what waits is tried again at each renewal: webhooks answer later than a Lease is
/// taken.
constexpr kube::Duration back_time = 30s;
/// The time between two changes of the number of orders in a report.
constexpr kube::Duration count_pause = 30s;
/// New pods are kept away after this time of proven absence.
constexpr kube::Duration closing_time = 60s;
/// A report is withdrawn if no look succeeds for the first time, or nothing waits for the second. No order comes to a
/// closed Node, so that otherwise nobody would find out that another Liqo is there by now, one without this Lease.
constexpr kube::Duration blind_time = 60s, idle_time = 6h;
/// A fault that lasts for longer counts as a Lease that cannot be read.
constexpr kube::Duration fault_patience = 15s;
/// The pause between a report that is withdrawn and the next one begins with the first. It is doubled each time, up to
/// the second, and begins again once the last has passed since a report was withdrawn.
constexpr kube::Duration first_pause = 15s, max_pause = 4min, calm_time = 30min;
/// A judge that has just begun needs this long for a proof.
constexpr kube::Duration settling_time = 90s;
/// A renewal is not shown if the Lease gives an older time for it.
constexpr kube::Duration oldest_shown = 24h * 30;

constexpr std::string_view not_running = " has not run since ", not_acted = " has not acted upon ",
                           it_has = "; it has ", of_yours = " of yours", closing = "; new pods are kept away meanwhile";

std::string time_text(kube::WallTime time, kube::WallTime now) {
  // 2026-11-21T10:00:00Z
  std::string text = kube::format_time(time);
  const std::size_t at = text.find('T');
  if (at == std::string::npos || text.empty()) return text;
  text.pop_back();
  text[at] = ' ';
  return (now - time < 24h ? text.substr(at + 1) : text) + " UTC";
}

std::string count_text(std::size_t orders) {
  return std::to_string(orders) + (orders == 1 ? " order" : " orders") + std::string(of_yours);
}

}  // namespace

void OpenOrders::close(std::string_view order, End how, kube::TimePoint now) {
  const auto found = waiting_.find(order);
  if (found == waiting_.end()) return;
  waiting_.erase(found);
  if (how == End::acted) acted_ = now;
}

const Moment* OpenOrders::since(std::string_view order) const {
  const auto found = waiting_.find(order);
  return found == waiting_.end() ? nullptr : &found->second;
}

OpenOrders::Part OpenOrders::opened_from(kube::TimePoint begin) const {
  Part part;
  for (const auto& [order, opened] : waiting_) {
    if (opened.at < begin) continue;
    ++part.count;
    if (!part.oldest || opened.at < part.oldest->at) part.oldest = opened;
  }
  return part;
}

OrdersSight sight_of(std::span<const OpenOrders* const> parts) {
  OrdersSight sight;
  const auto add = [](OpenOrders::Part& to, const OpenOrders::Part& more) {
    to.count += more.count;
    if (more.oldest && (!to.oldest || more.oldest->at < to.oldest->at)) to.oldest = more.oldest;
  };
  for (const OpenOrders* orders : parts)
    if (const auto& acted = orders->acted()) sight.acted = std::max(sight.acted.value_or(*acted), *acted);
  for (const OpenOrders* orders : parts) {
    add(sight.all, orders->opened_from(kube::TimePoint::min()));
    add(sight.fresh, orders->opened_from(sight.acted.value_or(kube::TimePoint::min())));
  }
  return sight;
}

LeaderSight read_leader(const kube::Object& lease) {
  const kube::json::object& spec = lease.spec();
  // What is compared and kept is bounded, whatever the provider writes.
  constexpr std::size_t max_text = 64;
  const std::int64_t seconds =
      std::clamp<std::int64_t>(kube::int_at(spec, {"leaseDurationSeconds"}), 0, max_duration / 1s);
  return {.holder = std::string(kube::string_at(spec, {"holderIdentity"}).substr(0, max_text)),
          .renewed = std::string(kube::string_at(spec, {"renewTime"}).substr(0, max_text)),
          .duration = std::max<kube::Duration>(std::chrono::seconds(seconds), min_duration)};
}

std::string with_silence(std::string message, const SilenceNote& note) {
  if (note.words.empty()) return message;
  if (!message.empty()) message += "; ";
  message += note.words;
  if (note.closes) message += closing;
  return message;
}

SilenceNote silence_note(std::string_view message) {
  // The words about the clock stand behind it.
  if (const std::string_view clock = clock_note(message); !clock.empty()) {
    message.remove_suffix(clock.size());
    if (message.ends_with("; ")) message.remove_suffix(2);
  }
  const bool proven = message.contains(not_running);
  const std::size_t at = message.find(proven ? not_running : not_acted);
  if (at == std::string_view::npos) return {};
  const std::size_t before = message.substr(0, at).rfind("; ");
  std::string_view words = before == std::string_view::npos ? message : message.substr(before + 2);
  const bool closes = proven && words.ends_with(closing);
  if (closes) words.remove_suffix(closing.size());
  return {.words = std::string(words), .proven = proven, .closes = closes};
}

SilenceNote silence_note(const kube::Object& foreign_cluster) {
  const kube::json::object* server = kube::find_condition(foreign_cluster.status(), "APIServerStatus");
  return server ? silence_note(kube::string_at(*server, {"message"})) : SilenceNote{};
}

std::string without_count(std::string_view words) {
  const bool proven = words.contains(not_running);
  const std::size_t begin = words.find(proven ? it_has : not_acted);
  const std::size_t end = begin == std::string_view::npos ? begin : words.find(of_yours, begin);
  if (end == std::string_view::npos) return std::string(words);
  return std::string(words.substr(0, begin)) + (proven ? std::string() : std::string(not_acted) + "orders of yours") +
         std::string(words.substr(end + of_yours.size()));
}

bool SilenceJudge::waits(kube::TimePoint now) const {
  const auto& oldest = orders_.all.oldest;
  return oldest && now - std::max(oldest->at, orders_.acted.value_or(oldest->at)) >= order_patience;
}

bool SilenceJudge::waits_anew(kube::TimePoint now) const {
  return orders_.fresh.oldest && now - orders_.fresh.oldest->at >= order_patience;
}

bool SilenceJudge::is_settled(kube::TimePoint now) const {
  return !note_.words.empty() || (began_ && now - *began_ >= settling_time) || (run_ && run_->renewals >= 2);
}

bool SilenceJudge::is_resting(kube::TimePoint now) const {
  if (note_.closes)
    return idle_since_ && now - *idle_since_ >= rest_after && is_stale() && !failing_since_ && !back_at_;
  // If there is no Lease, an order that is only left behind is no reason to look for one.
  return note_.words.empty() && failing_since_ && hidden_ && !waits_anew(now);
}

bool SilenceJudge::is_look_due(kube::TimePoint now) const {
  if (!answers_ || (!waits(now) && note_.words.empty() && !resumes_ && !is_back())) return false;
  return !tried_ || now - *tried_ >= (is_resting(now) ? rest_pause : look_pause);
}

bool SilenceJudge::is_stale() const {
  if (!run_) return false;
  // The next replica may be about to take what one has given back.
  return run_->last - run_->first.at > (run_->leader.holder.empty() ? 0s : run_->leader.duration);
}

bool SilenceJudge::is_proven(kube::TimePoint now) const {
  if (!is_stale() || run_->leader.renewed == void_ || failing_since_ || now - run_->last > max_gap) return false;
  // A provider that acts is there, whatever its Lease says.
  const kube::TimePoint acted = orders_.acted.value_or(kube::TimePoint::min());
  return acted < run_->first.at || run_->last - acted > run_->leader.duration;
}

bool SilenceJudge::is_unreadable(kube::TimePoint now) const {
  if (is_stale() && run_->leader.renewed == void_) return true;
  if (!failing_since_ || now - *tried_ > max_gap) return false;
  return hidden_ || *tried_ - *failing_since_ >= fault_patience;
}

void SilenceJudge::looked(const LeaderSight& leader, kube::TimePoint asked, Moment now) {
  const bool is_apart = run_ && asked - run_->last > (is_resting(now.at) ? 2 * rest_pause : max_gap);
  tried_ = asked;
  failing_since_.reset();
  hidden_ = false;
  blind_since_.reset();
  const bool was_still = is_still(),
             differs = run_ && (run_->leader.renewed != leader.renewed || run_->leader.holder != leader.holder);
  if (!run_ || differs || is_apart) {
    const bool renewed = differs && !leader.holder.empty();
    run_ = Run{.leader = leader, .first = now, .last = asked, .renewals = renewed ? run_->renewals + 1 : 0};
    if (renewed && note_.proven && !back_at_) back_at_ = now.at;
    if (renewed && (note_.proven || was_still)) note_return(now.at);
    wake_ = wake_ || (renewed && returned_at_);
  } else {
    run_->last = asked;
    run_->renewals = 0;
  }
  judge(now);
}

void SilenceJudge::not_looked(NoLook why, Moment now) {
  tried_ = now.at;
  hidden_ = why == NoLook::hidden;
  if (!failing_since_) failing_since_ = now.at;
  if (!blind_since_) blind_since_ = now.at;
  judge(now);
}

void SilenceJudge::see(const OrdersSight& orders, bool answers, Moment now) {
  if (!began_) began_ = now.at;
  const bool acted = orders.acted && (!orders_.acted || *orders_.acted < *orders.acted);
  orders_ = orders;
  answers_ = answers;
  if (now.at - *began_ >= settling_time) resumes_ = false;
  if (orders.all.count > 0)
    idle_since_.reset();
  else if (!idle_since_)
    idle_since_ = now.at;
  for (auto* time : {&back_at_, &returned_at_})
    if (*time && now.at - **time >= back_time) time->reset();
  if (acted && (!note_.words.empty() || is_still())) note_return(now.at);
  wake_ = wake_ || (acted && returned_at_);
  // Looks start again with the next order that waits too long: what lies between two of them proves nothing.
  if (!waits(now.at) && note_.words.empty() && !back_at_ && !is_back() && !acted && !resumes_) {
    run_.reset();
    failing_since_.reset();
    blind_since_.reset();
  }
  if (!answers) {
    failing_since_.reset();
    if (!blind_since_) blind_since_ = now.at;
  }
  if (acted && is_stale()) void_ = run_->leader.renewed;
  if (acted && !note_.words.empty()) withdraw_report(now.at);
  judge(now);
}

void SilenceJudge::judge(Moment now) {
  if (withdrawn_at_ && now.at - *withdrawn_at_ >= calm_time) pause_ = {};
  judge_reported(now);
  if (!answers_ || back_at_ || (!waits(now.at) && !resumes_)) return;
  const bool proven = is_proven(now.at);
  if (note_.words.empty()) {
    // If the Lease can be read and is renewed, the provider only takes its time.
    const bool unread = waits_anew(now.at) && is_unreadable(now.at);
    if ((proven || unread) && (!withdrawn_at_ || now.at - *withdrawn_at_ >= pause_)) report(proven, now);
  } else if (proven && !note_.proven && now.at - *reported_at_ >= std::max(pause_, first_pause)) {
    report(true, now);
  }
}

void SilenceJudge::judge_reported(Moment now) {
  if (note_.words.empty()) return;
  const bool idle = idle_since_ && now.at - *idle_since_ >= idle_time;
  const bool back = run_ && run_->renewals >= 2;
  const bool blind = note_.proven && blind_since_ && now.at - *blind_since_ >= blind_time;
  // A report without a proof ends with the orders that wait.
  const bool unseen = !note_.proven && orders_.fresh.count == 0;
  if (idle || back || blind || unseen) return withdraw_report(now.at);
  if (note_.proven && now.at - proven_at_ >= closing_time) note_.closes = true;
  if (count_of(note_.proven) != reported_count_ && now.at - counted_at_ >= count_pause) count(note_.proven, now);
}

void SilenceJudge::note_return(kube::TimePoint now) {
  if (!returned_at_) returned_at_ = now;
}

void SilenceJudge::report(bool proven, Moment now) {
  note_ = {.words = {}, .proven = proven, .closes = proven && resumes_};
  absent_since_ = absent_since(proven);
  count(proven, now);
  reported_at_ = now.at;
  if (proven) {
    proven_at_ = now.at;
    resumes_ = false;
  }
  pause_ = pause_ == kube::Duration{} ? first_pause : std::min<kube::Duration>(pause_ * 2, max_pause);
}

void SilenceJudge::withdraw_report(kube::TimePoint now) {
  note_ = {};
  reported_at_.reset();
  withdrawn_at_ = now;
}

kube::WallTime SilenceJudge::absent_since(bool proven) const {
  if (!proven) return orders_.fresh.oldest->wall;
  const kube::WallTime seen = run_->first.wall;
  const auto said = kube::parse_time(run_->leader.renewed);
  return said && *said <= seen && seen - *said <= oldest_shown ? *said : seen;
}

void SilenceJudge::count(bool proven, Moment now) {
  reported_count_ = count_of(proven);
  counted_at_ = now.at;
  const std::string orders = count_text(reported_count_), since = time_text(absent_since_, now.wall);
  if (proven)
    note_.words = "Liqo of cluster " + cluster_ + std::string(not_running) + since +
                  (reported_count_ > 0 ? std::string(it_has) + orders : std::string()) +
                  ": ask its operator to start liqod";
  else
    note_.words = "cluster " + cluster_ + std::string(not_acted) + orders + " since " + since +
                  ": ask its operator whether Liqo runs there";
}

}  // namespace liqo::core
