#include "controllers/peering/silence_watch.hpp"

#include <utility>

#include "kube/async/timeout.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;

constexpr kube::Duration pause = 1s;
/// The timeout of one look: the judge relies on a look every few seconds.
constexpr kube::Duration look_time = 5s;
/// The namespace of Liqo unless another one is declared.
constexpr std::string_view usual_namespace = "liqo";

}  // namespace

SilenceWatch::SilenceWatch(std::string cluster, kube::Api& provider, std::shared_ptr<ProviderOrders> orders,
                           Context context, Reader reader)
    : provider_(provider),
      orders_(std::move(orders)),
      context_(context),
      reader_(std::move(reader)),
      judge_(cluster),
      log_(kube::Log("replication").with("cluster", cluster)) {}

asio::awaitable<void> SilenceWatch::run() {
  judge_.resume(reader_.standing());
  while (true) {
    judge_.see(orders_->sight(), reader_.answers(), now());
    if (judge_.is_look_due(context_.clock.now())) co_await look();
    if (judge_.take_wake()) orders_->wake(context_.clock.now());
    orders_->catch_up(context_.clock.now());
    report();
    if (note_ && note_->words.empty()) co_await orders_->any().wait();
    co_await context_.clock.sleep(pause);
  }
}

asio::awaitable<void> SilenceWatch::look() {
  std::string ns = reader_.liqo_namespace();
  if (ns.empty()) ns = usual_namespace;
  // A Lease that was renewed after it was read will be found renewed by the next look.
  const kube::TimePoint asked = context_.clock.now();
  const auto lease = co_await kube::async::with_timeout(
      context_.clock, provider_.get(kube::resources::leases, {ns, std::string(core::leader_lease)}), look_time);
  if (lease && *lease) co_return judge_.looked(core::read_leader(**lease), asked, now());
  const bool is_hidden = lease && (lease->error().is_not_found() || lease->error().is_forbidden());
  log_.debug("the Lease of the provider's leader was not read",
             {{"namespace", ns}, {"error", lease ? lease->error().text() : std::string("no answer in time")}});
  judge_.not_looked(is_hidden ? core::SilenceJudge::NoLook::hidden : core::SilenceJudge::NoLook::failed, now());
}

void SilenceWatch::report() {
  if (!note_ && !judge_.is_settled(context_.clock.now())) return;
  if (note_ == judge_.note()) return;
  const std::string words = core::without_count(judge_.note().words);
  const bool is_news = !words.empty() && (!note_ || core::without_count(note_->words) != words);
  if (is_news)
    log_.warn("the provider does not act", {{"error", judge_.note().words}});
  else if (note_ && !note_->words.empty() && judge_.note().words.empty())
    log_.info("the provider acts again");
  note_ = judge_.note();
  reader_.changed(is_news);
}

}  // namespace liqo::controllers
