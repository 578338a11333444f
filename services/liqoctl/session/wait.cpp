#include "session/wait.hpp"

#include <algorithm>
#include <utility>

#include "core/common/peer_names.hpp"
#include "kube/async/timeout.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "model/advice.hpp"
#include "model/check/check.hpp"
#include "model/events.hpp"
#include "model/info/peer_info.hpp"
#include "session/find_one.hpp"
#include "text/duration.hpp"

namespace liqoctl {
namespace {

/// The pause between two lines of a wait, the time until the reason is first looked for, the pause between two such
/// looks, and the patience for one.
constexpr kube::Duration report_pause = std::chrono::seconds(10), first_question = std::chrono::seconds(2),
                         question_pause = std::chrono::seconds(5), answer_patience = std::chrono::seconds(3);

/// Whether a failure may pass by itself, because nothing was decided yet.
bool may_pass(const kube::Failure& failure) {
  return failure.code() == kube::Errc::connect || failure.code() == kube::Errc::closed ||
         failure.code() == kube::Errc::timeout || failure.is_conflict() || failure.http_code() >= 500 ||
         failure.http_code() == 429;
}

/// A Warning that still holds is written again every five minutes, so an older one is out of date.
constexpr kube::Duration warning_age = std::chrono::minutes(10);

/// Times of Events are whole seconds of another machine's clock.
constexpr std::chrono::seconds clock_tolerance(2);

std::string name_in_words(const Cluster& cluster) {
  return cluster.is_remote() ? "cluster " + cluster.scope() : "this cluster (" + cluster.scope() + ")";
}

/// The rest of a sentence about a liqod that does not run; "" if it runs, or that is not known.
asio::awaitable<std::string> alert_of_liqod(Cluster& cluster) {
  // Not every user may read the Deployment.
  const auto there = co_await cluster.find(liqo::api::kinds::deployments, {cluster.liqo_namespace(), "liqod"});
  co_return there && *there ? model::daemon_alert(&**there, !cluster.is_remote()) : "";
}

/// Why a wait takes long: liqod, which would do the work, does not run, or the text of `reason`.
asio::awaitable<std::string> why_it_takes_long(Cluster& cluster, bool needs_liqod, const Reason& reason) {
  std::string why;
  if (needs_liqod) why = co_await absence_of_liqod(cluster);
  if (why.empty() && reason) why = co_await reason();
  co_return why;
}

}  // namespace

asio::awaitable<Result<void>> wait_for(Cluster& cluster, Wait wait,
                                       std::function<asio::awaitable<Result<WaitState>>()> look, Reason reason) {
  const auto& [what, deadline, needs_liqod] = wait;
  kube::async::Clock& clock = cluster.clock();
  cluster.output().doing(cluster.scope(), "waiting for " + what);
  const auto started = clock.now();
  kube::Duration pause = std::chrono::milliseconds(10);
  std::string seen, why;
  kube::TimePoint report_at = started + report_pause, ask_at = started + first_question;
  while (true) {
    auto found = co_await look();
    if (found && found->done) co_return Result<void>();
    if (!found && !may_pass(found.error())) co_return kube::fail(std::move(found.error()), "waiting for " + what);
    seen = found ? found->seen : found.error().text();
    const bool gives_up = clock.now() >= deadline.at;
    // A cluster that did not respond to the look would not respond to this either.
    if ((needs_liqod || reason) && found && !found->says_why && !gives_up && clock.now() >= ask_at) {
      ask_at = clock.now() + question_pause;
      const kube::Deadline patience{std::min(deadline.at, clock.now() + answer_patience)};
      const auto said =
          co_await kube::async::with_deadline(clock, why_it_takes_long(cluster, needs_liqod, reason), patience);
      if (said && !said->empty() && std::exchange(why, *said) != *said) {
        cluster.output().warn(cluster.scope(), why);
        cluster.output().doing(cluster.scope(), "waiting for " + what);
      }
    }
    if (gives_up)
      co_return kube::fail(kube::Errc::timeout,
                           "gave up waiting for " + what + " after " + text::age(clock.now() - started) +
                               (seen.empty() ? "" : "; last seen: " + seen) + (why.empty() ? "" : " (" + why + ")"));
    if (clock.now() >= report_at) {
      report_at = clock.now() + report_pause;
      cluster.output().still(cluster.scope(), "waiting for " + what, seen, clock.now() - started);
    }
    co_await clock.sleep_until(std::min(clock.now() + pause, deadline.at));
    // The pause grows by a fifth, so the end is noticed at most a fifth of the waiting time late.
    pause = std::min<kube::Duration>(pause * 6 / 5, std::chrono::milliseconds(500));
  }
}

asio::awaitable<Result<void>> wait_for_object(Cluster& cluster, Wait wait, AwaitedObject object,
                                              std::function<WaitState(const Object*)> look) {
  std::string uid, peer;
  const kube::WallTime began = cluster.clock().wall();
  // Lives in this frame until the last probe has ended.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  const std::function<asio::awaitable<Result<WaitState>>()> probe = [&]() -> asio::awaitable<Result<WaitState>> {
    KUBE_CO_TRY(found, co_await cluster.find(object.resource, object.key));
    uid = found ? found->uid() : "";
    peer = found ? found->label(liqo::api::labels::remote_cluster_id) : "";
    co_return look(found ? &*found : nullptr);
  };
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  const Reason reason = [&]() -> asio::awaitable<std::string> {
    if (std::string silence = co_await silence_of(cluster, peer); !silence.empty()) co_return silence;
    co_return co_await last_warning(cluster, object, uid, began);
  };
  co_return co_await wait_for(cluster, std::move(wait), probe, object.blame == Blame::warnings ? reason : Reason());
}

asio::awaitable<Result<void>> wait_for_object_to_go(Cluster& cluster, Wait wait, AwaitedObject object,
                                                    std::function<std::string(const Object&)> seen) {
  return wait_for_object(cluster, std::move(wait), std::move(object),
                         [seen = std::move(seen)](const Object* there) -> WaitState {
                           if (!there) return {.done = true};
                           return {.seen = seen ? seen(*there) : "it is still there"};
                         });
}

asio::awaitable<Result<void>> wait_for_namespace_to_go(Cluster& cluster, kube::Deadline deadline, std::string name,
                                                       std::string_view what) {
  const std::function<std::string(const Object&)> seen = [](const Object& there) -> std::string {
    for (const auto& condition : kube::array_at(there.status(), {"conditions"}))
      if (kube::string_at(condition, {"status"}) == "True")
        return std::string(kube::string_at(condition, {"message"}).substr(0, 512));
    return "it is ending";
  };
  const std::string words = std::string(what) + " " + name;
  KUBE_CO_TRYV(co_await wait_for_object_to_go(cluster, {.what = words + " to go", .deadline = deadline},
                                              {.resource = kube::resources::namespaces, .key = {"", name}}, seen),
               cluster.scope());
  cluster.output().success(cluster.scope(), words + " deleted");
  co_return Result<void>();
}

asio::awaitable<Result<void>> wait_for_absence(Cluster& cluster, Wait wait, Selection selection) {
  std::string peer;
  // Lives in this frame until the last probe has ended.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  const std::function<asio::awaitable<Result<WaitState>>()> probe = [&]() -> asio::awaitable<Result<WaitState>> {
    KUBE_CO_TRY(left, co_await cluster.list(selection.resource, selection.ns, selection.label_selector));
    WaitState state{.done = left.empty()};
    for (const Object& object : left) {
      if (state.seen.size() > 200) break;
      state.seen += (state.seen.empty() ? "" : ", ") + object.key().text();
    }
    if (!left.empty()) state.seen += left.size() == 1 ? " is still there" : " are still there";
    peer = left.empty() ? "" : left.front().label(liqo::api::labels::remote_cluster_id);
    co_return state;
  };
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  const Reason reason = [&]() -> asio::awaitable<std::string> {
    const std::string silence = co_await silence_of(cluster, peer);
    co_return silence.empty() ? "" : silence + "; if it will not come back: liqoctl force unpeer " + peer;
  };
  co_return co_await wait_for(cluster, std::move(wait), probe, reason);
}

asio::awaitable<std::string> last_warning(Cluster& cluster, AwaitedObject object, std::string uid,
                                          std::optional<kube::WallTime> began) {
  const kube::ObjectKey& key = object.key;
  auto events = co_await cluster.list(
      kube::resources::events, key.ns.empty() ? "default" : key.ns, "",
      "type=Warning,involvedObject.name=" + key.name + ",involvedObject.kind=" + std::string(object.resource.kind));
  if (!events) co_return "";
  const std::chrono::seconds ahead = cluster.api().clock_ahead().value_or(std::chrono::seconds(0));
  const kube::WallTime since =
      began ? *began + ahead - clock_tolerance
            : cluster.clock().wall() - std::chrono::duration_cast<kube::WallTime::duration>(warning_age);
  const std::string words = model::newest_message(*events, uid, since);
  co_return words.empty() ? "" : "liqod says: " + words;
}

asio::awaitable<std::string> absence_of_liqod(Cluster& cluster) {
  const std::string alert = co_await alert_of_liqod(cluster);
  co_return alert.empty() ? "" : "liqod of " + name_in_words(cluster) + " " + alert;
}

asio::awaitable<std::string> line_of(std::vector<Cluster*> clusters, kube::Failure failure) {
  const auto unreviewed = model::read_unreviewed(failure);
  if (!unreviewed || clusters.empty()) co_return model::advised(failure);
  // The failure names its cluster as the kubeconfig does, in which two may have the same name.
  std::vector<Cluster*> named;
  for (Cluster* one : clusters)
    if (unreviewed->before.contains(" in " + one->api().cluster() + ": ")) named.push_back(one);
  if (named.empty()) named = std::move(clusters);
  std::vector<std::pair<Cluster*, std::string>> down;
  for (Cluster* one : named) {
    const auto said = co_await kube::async::with_timeout(one->clock(), alert_of_liqod(*one), answer_patience);
    if (said && !said->empty()) down.emplace_back(one, *said);
  }
  model::Reviewer reviewer;
  Cluster* asked = down.size() == 1 ? down.front().first : named.size() == 1 ? named.front() : nullptr;
  if (asked) {
    reviewer.who = name_in_words(*asked);
    if (!asked->is_remote()) reviewer.ns = asked->liqo_namespace();
    if (!down.empty()) reviewer.alert = down.front().second;
  }
  co_return model::unreviewed(*unreviewed, reviewer);
}

asio::awaitable<std::string> silence_of(Cluster& cluster, std::string peer) {
  // A peering user may not read ForeignClusters.
  if (cluster.is_remote() || !liqo::core::is_cluster_id(peer)) co_return "";
  auto there = co_await find_peer(cluster, std::move(peer));
  if (!there || !*there) co_return "";
  const std::string unanswered = model::server_alert(**there);
  co_return unanswered.empty() ? model::silence_alert(**there) : unanswered;
}

}  // namespace liqoctl
