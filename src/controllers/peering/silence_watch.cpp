#include "controllers/peering/silence_watch.hpp"

#include <set>
#include <utility>

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;

constexpr kube::Duration pause = 1s;
/// Where Liqo is installed unless somebody says otherwise.
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
  while (true) {
    judge_.see(orders_->sight(), reader_.answers(), now());
    if (judge_.is_look_due(context_.clock.now())) co_await look();
    if (judge_.take_wake()) orders_->wake();
    tell();
    if (note_ && note_->words.empty()) co_await orders_->any().wait();
    co_await context_.clock.sleep(pause);
  }
}

asio::awaitable<void> SilenceWatch::look() {
  std::set<std::string> namespaces{std::string(usual_namespace)};
  if (std::string declared = reader_.liqo_namespace(); !declared.empty()) namespaces.insert(std::move(declared));
  for (const std::string& ns : namespaces) {
    const auto lease = co_await provider_.get(kube::resources::leases, {ns, std::string(core::leader_lease)});
    if (lease) co_return judge_.looked(core::read_leader(*lease), now());
    log_.debug("the Lease of the provider's leader was not read", {{"namespace", ns}, {"error", lease.error()}});
  }
  judge_.not_looked(now());
}

void SilenceWatch::tell() {
  if (!note_ && !judge_.is_settled(context_.clock.now())) return;
  if (note_ == judge_.note()) return;
  const bool is_news = !judge_.note().words.empty() && (!note_ || note_->words != judge_.note().words);
  if (is_news)
    log_.warn("the provider does not act", {{"error", judge_.note().words}});
  else if (note_ && !note_->words.empty() && judge_.note().words.empty())
    log_.info("the provider acts again");
  note_ = judge_.note();
  reader_.changed();
}

}  // namespace liqo::controllers
