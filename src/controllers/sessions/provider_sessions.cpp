#include "controllers/sessions/provider_sessions.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "controllers/common/older_namesake.hpp"
#include "core/common/names.hpp"
#include "kube/async/finally.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using api::VirtualNode;
using kube::Outcome;

/// A process begins to read providers at the latest so long after its start, even if virtual nodes and pods are not all
/// known yet.
constexpr kube::Duration providers_wait_for = 30s;
/// An API server counts a list as up to ten requests. It carries out some hundred requests at a time, and refuses far
/// more: leases and pods must have their turn.
constexpr std::size_t max_home_lists = 8;

/// The failure of a session that is ended repeatedly by an error in liqod itself.
kube::Failure lost_again(const std::string& cluster, const std::string& loss) {
  return {kube::Errc::protocol,
          "the session with cluster " + cluster +
              " ends again and again because of an error in liqod, and is restarted each time: " + loss};
}

/// Finds errors in the VirtualNode itself.
std::optional<kube::Failure> why_invalid(const VirtualNode& virtual_node) {
  const std::string cluster(virtual_node.cluster_id());
  if (auto name = core::check_node_name(virtual_node.name()); !name) return std::move(name.error());
  if (!core::is_dns_label(cluster))
    return kube::Failure(kube::Errc::invalid_input, "spec.clusterID is not a cluster ID: \"" + cluster + "\"");
  if (virtual_node.kubeconfig_secret().empty())
    return kube::Failure(kube::Errc::missing, "spec.kubeconfigSecretRef names no Secret");
  return std::nullopt;
}

}  // namespace

ProviderSessions::ProviderSessions(ConnectProvider connect, ProviderBudgets& budgets, Context context,
                                   std::function<void(const kube::ObjectKey&)> changed)
    : connect_(std::move(connect)),
      budgets_(budgets),
      context_(context),
      changed_(std::move(changed)),
      home_lists_(context.executor, max_home_lists),
      virtual_nodes_(context.home.acquire({.resource = api::kinds::virtual_nodes})),
      inputs_(context, {.changed = [this](const kube::ObjectKey& key) { enqueue(key); },
                        .all_changed = [this] { enqueue_all(); }}),
      controller_(context, {.name = "provider-session"},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }),
      log_("virtual-node") {
  index_by_node_name(*virtual_nodes_);
  // A VirtualNode that is deleted or created may leave the session of its name to another one, or take it over.
  virtual_nodes_.subscribe(
      [this](const kube::ObjectKey& key) {
        enqueue(key);
        for (const kube::ObjectKey& namesake : virtual_nodes_->store().keys(by_node_name, key.name)) enqueue(namesake);
      },
      [this] { enqueue_all(); });
}

void ProviderSessions::enqueue_all() {
  for (const kube::ObjectKey& key : virtual_nodes_->store().keys()) enqueue(key);
}

kube::ObjectKey ProviderSessions::home_of(const kube::Object& virtual_node) {
  return {std::string(virtual_node.ns()), std::string(VirtualNode(virtual_node).cluster_id())};
}

asio::awaitable<void> ProviderSessions::run() {
  begun_ = context_.clock.now();
  co_await kube::async::finally(controller_.run(), stop_sessions());
}

asio::awaitable<void> ProviderSessions::stop_sessions() {
  // Clusters stop first, so that none borrows another connection for a moment.
  is_ending_ = true;
  for (const auto& [home, shared] : clusters_)
    if (const auto cluster = shared.cluster) co_await cluster->stop();
  while (!entries_.empty()) {
    const kube::ObjectKey key = entries_.begin()->first;
    co_await stop_session(key);
    entries_.erase(key);
    inputs_.forget(key);
  }
}

bool ProviderSessions::has_synced() const {
  if (!virtual_nodes_->has_synced()) return false;
  for (const kube::ObjectKey& key : virtual_nodes_->store().keys()) {
    const auto entry = entries_.find(key);
    if (entry == entries_.end() || !entry->second.is_settled) return false;
    if (entry->second.session && !entry->second.session->pods().local_pods().has_synced()) return false;
  }
  return true;
}

bool ProviderSessions::is_busy() const {
  if (controller_.is_busy()) return true;
  for (const auto& [key, entry] : entries_)
    if (entry.session && entry.session->is_busy()) return true;
  for (const auto& [home, shared] : clusters_)
    if (shared.cluster && shared.cluster->is_busy()) return true;
  return false;
}

ProviderSession* ProviderSessions::find_running(const kube::ObjectKey& local_pod) const {
  for (const auto& [key, entry] : entries_)
    if (entry.session && entry.session->pods().local_pods().store().contains(local_pod)) return entry.session.get();
  return nullptr;
}

ProviderSession* ProviderSessions::find(const kube::ObjectKey& virtual_node) const {
  const auto entry = entries_.find(virtual_node);
  return entry == entries_.end() ? nullptr : entry->second.session.get();
}

std::string ProviderSessions::trouble(const kube::ObjectKey& virtual_node) const {
  const auto entry = entries_.find(virtual_node);
  return entry != entries_.end() && entry->second.trouble ? entry->second.trouble->text() : "";
}

bool ProviderSessions::is_foreign(const kube::ObjectKey& virtual_node) const {
  const auto entry = entries_.find(virtual_node);
  return entry != entries_.end() && !entry->second.foreign.empty();
}

void ProviderSessions::note_foreign(const kube::ObjectKey& virtual_node, const std::string& why) {
  const auto entry = entries_.find(virtual_node);
  if (entry == entries_.end() || entry->second.foreign == why) return;
  entry->second.foreign = why;
  enqueue(virtual_node);
}

asio::awaitable<void> ProviderSessions::stop_session(kube::ObjectKey key, std::shared_ptr<ProviderLink> next) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || !found->second.session) co_return;
  const auto session = found->second.take_out();
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const std::shared_ptr<ProviderCluster> cluster = session->cluster();
  if (!is_ending_ && !lend_link(*cluster, std::move(next))) {
    // The cluster of the last session stops before it, while there is a connection.
    if (const auto shared = clusters_.find(cluster->home());
        shared != clusters_.end() && shared->second.cluster == cluster)
      shared->second.cluster.reset();
    co_await cluster->stop();
  }
  co_await session->stop();
}

asio::awaitable<kube::Duration> ProviderSessions::end_lost_session(kube::ObjectKey key) {
  Entry& entry = entries_[key];
  const kube::Duration pause =
      entry.lose({.cluster = entry.session->pods().forging().clusters.remote, .purpose = "offloading"}, context_,
                 log_.with("virtual_node", key.text()));
  co_await stop_session(key);
  co_return pause;
}

asio::awaitable<void> ProviderSessions::end_broken_cluster(kube::ObjectKey home) {
  const auto found = clusters_.find(home);
  if (found == clusters_.end() || !found->second.cluster) co_return;
  Shared& shared = found->second;
  std::string overflow = shared.cluster->overflow();
  const std::string loss = shared.cluster->loss();
  if (overflow.empty() && loss.empty()) co_return;
  const std::shared_ptr<ProviderCluster> ended = std::move(shared.cluster);
  const kube::TimePoint now = context_.clock.now();
  kube::Duration pause = overflow_pause;
  shared.trouble.reset();
  if (!overflow.empty()) {
    shared.trouble.emplace(kube::Errc::too_large, std::move(overflow));
  } else {
    pause = shared.restarts.lose(now, context_.random);
    shared.restarts.count(context_.metrics, home.name, "offloading");
    if (shared.restarts.is_repeated()) shared.trouble.emplace(lost_again(home.name, loss));
    log_.error("what the sessions with a provider share has lost a worker and starts anew",
               {{"cluster", home.name},
                {"error", loss},
                {"pause_ms", std::chrono::ceil<std::chrono::milliseconds>(pause).count()}});
  }
  shared.not_before = now + pause;
  std::vector<kube::ObjectKey> concerned;
  for (const auto& [key, entry] : entries_)
    if (entry.session && entry.session->cluster() == ended) concerned.push_back(key);
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await ended->stop();
  for (const kube::ObjectKey& key : concerned) co_await stop_session(key);
  clusters_[home].not_before = context_.clock.now() + pause;
  for (const kube::ObjectKey& key : concerned) enqueue(key);
}

std::shared_ptr<ProviderCluster> ProviderSessions::cluster_of(const kube::ObjectKey& home) {
  Shared& shared = clusters_[home];
  if (shared.cluster) return shared.cluster;
  shared.cluster = std::make_shared<ProviderCluster>(
      home, budgets_.of(home.name), statuses_, home_lists_, [this] { return may_read(); }, context_);
  // VirtualNodes without a session are notified, too: one may be about to begin, and there is only one notification.
  shared.cluster->on_end([this, home] {
    for (const kube::Object& node : virtual_nodes_->objects())
      if (home_of(node) == home) enqueue(node.key());
  });
  shared.cluster->on_custom_change([this, home] {
    for (const auto& [key, entry] : entries_)
      if (entry.session && entry.session->cluster()->home() == home) changed_(key);
  });
  shared.restarts.begin(context_.clock.now());
  shared.cluster->start();
  return shared.cluster;
}

bool ProviderSessions::may_read() const { return has_synced() || context_.clock.now() - begun_ >= providers_wait_for; }

bool ProviderSessions::lend_link(ProviderCluster& cluster, std::shared_ptr<ProviderLink> next) const {
  // Whether the link is unusable, is not the one in use, and has no VirtualNode; then by age. The one in use stays in
  // use, because with another one all watches begin again.
  using Rank = std::tuple<bool, bool, bool, std::string, std::string>;
  std::optional<Rank> best;
  std::shared_ptr<ProviderLink> link = std::move(next);
  if (link) best = Rank{false, true, true, "", ""};
  for (const auto& [key, entry] : entries_) {
    if (!entry.session || entry.session->cluster().get() != &cluster) continue;
    const auto node = virtual_nodes_->find(key);
    Rank rank{!entry.session->is_usable(), !cluster.uses(entry.session->link().get()), !node,
              std::string(node ? node->creation_timestamp() : ""), key.name};
    if (best && *best <= rank) continue;
    best = std::move(rank);
    link = entry.session->link();
  }
  if (!link) return false;
  if (!cluster.uses(link.get())) cluster.use(std::move(link));
  return true;
}

void ProviderSessions::refuse(const kube::Object& virtual_node, kube::Failure failure) {
  const kube::ObjectKey key = virtual_node.key();
  Entry& entry = entries_[key];
  entry.is_settled = true;
  std::optional<kube::Failure>& trouble = entry.trouble;
  if (trouble && trouble->text() == failure.text()) return;
  log_.warn(entry.session ? "no new session with the provider" : "no session with the provider",
            {{"virtual_node", key}, {"error", failure}});
  context_.events.warning(virtual_node, api::kinds::virtual_nodes, api::reasons::provider_unusable, failure.text());
  trouble = std::move(failure);
  changed_(key);
}

void ProviderSessions::report_blockage(const kube::ObjectKey& key, const std::string& blockage) {
  if (blockage.empty() == std::exchange(entries_[key].reported_blockage, blockage).empty()) return;
  if (blockage.empty()) return log_.info("the provider can be read again", {{"virtual_node", key}});
  log_.warn("the provider cannot be read", {{"virtual_node", key}, {"error", blockage}});
  if (const auto node = virtual_nodes_->find(key))
    context_.events.warning(*node, api::kinds::virtual_nodes, api::reasons::provider_unusable, blockage);
}

asio::awaitable<Outcome> ProviderSessions::reconcile(kube::WorkKey work) {
  // Before all are known an older one of the name may be missing; once they are, every key is enqueued.
  if (!virtual_nodes_->has_synced()) co_return Outcome::done();
  const auto object = virtual_nodes_->find(work.object);
  if (!object) {
    co_await forget(work.object);
    co_return Outcome::done();
  }
  entries_.try_emplace(work.object);
  // The content of an entry is looked up again after each await.
  co_await end_broken_cluster(home_of(*object));
  if (const auto pause = co_await rest_of_pause(*object)) co_return Outcome::again_after(*pause);
  if (auto unfit = why_unfit(*object)) {
    co_await stop_session(work.object);
    refuse(*object, std::move(*unfit));
    co_return Outcome::done();
  }
  auto inputs = inputs_.read(*object, entries_[work.object].session != nullptr);
  if (!inputs) {
    auto& [failure, look_again] = inputs.error();
    if (failure) refuse(*object, std::move(*failure));
    co_return look_again ? Outcome::again_after(*look_again) : Outcome::done();
  }
  if (has_session_of(work.object, *inputs)) co_return Outcome::done();
  co_return co_await begin_session(*object, std::move(*inputs));
}

std::optional<kube::Failure> ProviderSessions::why_unfit(const kube::Object& virtual_node) const {
  if (const std::string& foreign = entries_.at(virtual_node.key()).foreign; !foreign.empty())
    return kube::Failure(kube::Errc::invalid_input, foreign);
  // Both would run the pods of the Node.
  if (const auto older = older_namesake(*virtual_nodes_, virtual_node))
    return kube::Failure(kube::Errc::invalid_input, core::name_taken_text(*older));
  return why_invalid(VirtualNode(virtual_node));
}

bool ProviderSessions::has_session_of(const kube::ObjectKey& key, const SessionInputs& inputs) {
  Entry& entry = entries_[key];
  if (!entry.session || entry.digest != inputs.digest) return false;
  if (entry.credentials != inputs.credentials) {
    // Caches and watches stay, because the server is the same. Work that waits because of refused credentials begins
    // sooner in a new session.
    if (!entry.session->is_usable() || !entry.session->link()->renew(inputs.secret)) return false;
    entry.credentials = inputs.credentials;
    log_.info("the session goes on with other credentials", {{"virtual_node", key}});
  }
  // The change that required a new session was reverted.
  entry.trouble.reset();
  return true;
}

asio::awaitable<void> ProviderSessions::forget(kube::ObjectKey key) {
  co_await stop_session(key);
  entries_.erase(key);
  inputs_.forget(key);
  std::set<kube::ObjectKey> homes;
  for (const kube::Object& node : virtual_nodes_->objects()) homes.insert(home_of(node));
  std::erase_if(clusters_, [&](const auto& entry) { return !entry.second.cluster && !homes.contains(entry.first); });
}

asio::awaitable<std::optional<kube::Duration>> ProviderSessions::rest_of_pause(kube::Object virtual_node) {
  const kube::ObjectKey key = virtual_node.key(), home = home_of(virtual_node);
  const Entry& known = entries_[key];
  if (const std::string loss = known.session ? known.session->loss() : std::string(); !loss.empty()) {
    const kube::Duration pause = co_await end_lost_session(key);
    if (entries_[key].restarts.is_repeated()) refuse(virtual_node, lost_again(home.name, loss));
    co_return pause;
  }
  if (known.session) co_return std::nullopt;
  const auto shared = clusters_.find(home);
  const bool is_ended = shared != clusters_.end() && context_.clock.now() < shared->second.not_before;
  if (is_ended && shared->second.trouble) refuse(virtual_node, *shared->second.trouble);
  const kube::TimePoint not_before =
      std::max(known.not_before, is_ended ? shared->second.not_before : kube::TimePoint{});
  if (not_before <= context_.clock.now()) co_return std::nullopt;
  co_return not_before - context_.clock.now();
}

asio::awaitable<Outcome> ProviderSessions::begin_session(kube::Object virtual_node, SessionInputs inputs) {
  const kube::ObjectKey key = virtual_node.key(), home = home_of(virtual_node);
  auto link = connect_(home.name, inputs.secret);
  if (!link) {
    refuse(virtual_node,
           std::move(link.error()).in("Secret " + std::string(inputs.secret.name()) + " of namespace " + key.ns));
    co_return Outcome::done();
  }
  std::shared_ptr<ProviderLink> connected = std::move(*link);
  // The pods of a machine of that name are not ours.
  if (!entries_[key].session && VirtualNode(virtual_node).create_node()) {
    auto live = co_await context_.home.api().get(kube::resources::nodes, {"", key.name});
    if (!live && !live.error().is_not_found())
      co_return Outcome::retry(std::move(live.error()).in("looking for a Node of that name"));
    std::string foreign = live ? core::why_foreign(*live) : std::string();
    entries_[key].foreign = foreign;
    if (!foreign.empty()) {
      refuse(virtual_node, kube::Failure(kube::Errc::invalid_input, std::move(foreign)));
      co_return Outcome::done();
    }
  }
  // The shared state goes on over the new connection.
  std::shared_ptr<ProviderLink> next;
  if (const Entry& entry = entries_[key]; entry.session && entry.session->cluster()->home() == home) next = connected;
  co_await stop_session(key, std::move(next));
  // The session of another VirtualNode of the name may still be ending.
  if (has_session_elsewhere(key)) {
    co_await connected->stop();
    co_return Outcome::again_after(200ms);
  }
  // The cluster may have ended meanwhile.
  if (const auto shared = clusters_.find(home);
      shared != clusters_.end() && !shared->second.cluster && context_.clock.now() < shared->second.not_before) {
    const kube::Duration pause = shared->second.not_before - context_.clock.now();
    // It was lent to the cluster.
    co_await connected->stop();
    co_return Outcome::again_after(pause);
  }
  start_session(virtual_node, std::move(inputs), std::move(connected));
  co_return Outcome::done();
}

bool ProviderSessions::has_session_elsewhere(const kube::ObjectKey& key) const {
  return std::ranges::any_of(entries_, [&](const auto& entry) {
    return entry.first.name == key.name && entry.first.ns != key.ns && entry.second.session;
  });
}

void ProviderSessions::start_session(const kube::Object& virtual_node, SessionInputs inputs,
                                     std::shared_ptr<ProviderLink> link) {
  const kube::ObjectKey key = virtual_node.key(), home = home_of(virtual_node);
  const std::shared_ptr<ProviderCluster> cluster = cluster_of(home);
  Entry& entry = entries_[key];
  entry.trouble.reset();
  entry.is_settled = true;
  entry.digest = std::move(inputs.digest);
  entry.credentials = std::move(inputs.credentials);
  core::ForgingContext forging = inputs_.forging_of(virtual_node, inputs);
  forging.api_server_ips = std::move(inputs.addresses);
  if (inputs.withholds_tokens) forging.api_server_mode = core::ApiServerMode::never;
  if (inputs.withholds_audience_tokens) forging.audience_tokens = core::AudienceTokens::never;
  if (inputs.withholds_trust) forging.trust_bundles = core::TrustBundles::provider;
  if (inputs.withholds_certificates) forging.pod_certificates = core::PodCertificates::provider;
  entry.session = std::make_shared<ProviderSession>(std::move(forging), std::move(link), cluster, context_);
  entry.session->on_health_change([this, key] {
    if (const ProviderSession* session = find(key)) {
      (void)lend_link(*session->cluster());
      report_blockage(key, session->blockage());
    }
    changed_(key);
  });
  entry.session->on_loss([this, key] { enqueue(key); });
  entry.session->pods().on_room_change([this, key] { changed_(key); });
  entry.restarts.begin(context_.clock.now());
  (void)lend_link(*cluster);
  entry.session->start();
  log_.info("session with the provider started", {{"virtual_node", key}, {"cluster", home.name}});
  changed_(key);
}

}  // namespace liqo::controllers
