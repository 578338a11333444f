#include "liqo/controllers/virtual_node.hpp"

#include <boost/asio/this_coro.hpp>

#include "is_older.hpp"
#include "liqo/api/foreign_cluster.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/controllers/guarded_write.hpp"
#include "liqo/controllers/node_context.hpp"
#include "liqo/core/foreign_cluster.hpp"
#include "liqo/core/forge/room.hpp"
#include "liqo/core/mapping/names.hpp"
#include "liqo/telemetry/families.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using api::VirtualNode;
using kube::Outcome;

/// kube-controller-manager expects a node's status at least this often besides its lease.
constexpr kube::Duration node_refresh = 5min;
/// How soon a closed node is looked at again: whether there is room shows only where somebody asks.
constexpr kube::Duration closed_pause = 5s;
/// Between two tries with a provider that shows more than is held of one.
constexpr kube::Duration overflow_pause = 5min;

/// Everything that a session is made from, as one short text.
std::string digest_of(const kube::Object& virtual_node, const kube::Object& secret,
                      const core::ReflectionFilters& left_out) {
  kube::json::object parts;
  parts["secret"] = kube::object_at(secret.tree(), {"data"});
  parts["patch"] = kube::object_at(virtual_node.spec(), {"offloadingPatch"});
  for (const auto& [name, keys] : {std::pair{"labels", &left_out.labels}, {"annotations", &left_out.annotations}})
    parts[name] = kube::json::array(keys->begin(), keys->end());
  parts["cluster"] = kube::string_at(virtual_node.spec(), {"clusterID"});
  parts["ingress"] = api::VirtualNode(virtual_node).ingress_class();
  parts["balancers"] = api::VirtualNode(virtual_node).load_balancer_class();
  return core::sha256_hex(kube::json::serialize(parts));
}

}  // namespace

VirtualNodeController::VirtualNodeController(const asio::any_io_executor& executor, ConnectProvider connect,
                                             Context context)
    : executor_(executor),
      connect_(std::move(connect)),
      context_(context),
      virtual_nodes_(context.home.acquire({.resource = api::kinds::virtual_nodes})),
      nodes_(context.home.acquire({.resource = kube::resources::nodes,
                                   .selection = {.label_selector = std::string(api::labels::type) + "=" +
                                                                   std::string(api::labels::type_virtual_node)}})),
      foreign_clusters_(context.home.acquire({.resource = api::kinds::foreign_clusters})),
      slices_(context.home.acquire({.resource = api::kinds::resource_slices})),
      templates_(context),
      leases_(context),
      sessions_(executor, context.clock, context.random, context.metrics, {.name = "provider-session"},
                [this](kube::WorkKey key) { return reconcile_session(std::move(key)); }),
      node_controller_(executor, context.clock, context.random, context.metrics, {.name = "virtualnode"},
                       [this](kube::WorkKey key) { return reconcile_node(std::move(key)); }),
      log_("virtual-node") {
  virtual_nodes_.subscribe([this](const kube::ObjectKey& key) { enqueue(key); });
  virtual_nodes_->add_index(
      "name", [](const kube::Object& object, std::vector<std::string>& out) { out.emplace_back(object.name()); });
  templates_.subscribe([this] {
    for (const kube::ObjectKey& key : virtual_nodes_->store().keys()) sessions_.enqueue({key.text(), key});
  });
  nodes_.subscribe([this](const kube::ObjectKey& node) {
    const auto keys = virtual_nodes_->store().keys("name", node.name);
    for (const kube::ObjectKey& key : keys) node_controller_.enqueue({key.text(), key});
    // Of nobody, as far as is known.
    if (keys.empty()) node_controller_.enqueue({node.name, node});
  });
  // A VirtualNode is called as its slice, or names it.
  virtual_nodes_->add_index("slice", [](const kube::Object& object, std::vector<std::string>& out) {
    if (const std::string_view slice = object.label(api::labels::resource_slice_name); !slice.empty())
      out.emplace_back(slice);
  });
  foreign_clusters_.subscribe([this](const kube::ObjectKey& key) { see_foreign_cluster(key); });
  slices_.subscribe([this](const kube::ObjectKey& slice) {
    for (const kube::ObjectKey& key : virtual_nodes_->store().keys("slice", slice.name))
      if (key.ns == slice.ns) node_controller_.enqueue({key.text(), key});
  });
}

VirtualNodeController::~VirtualNodeController() = default;

void VirtualNodeController::enqueue(const kube::ObjectKey& key) {
  sessions_.enqueue({key.text(), key});
  node_controller_.enqueue({key.text(), key});
}

asio::awaitable<void> VirtualNodeController::run() {
  kube::async::TaskGroup group(co_await asio::this_coro::executor);
  std::exception_ptr ended;
  try {
    group.spawn(sessions_.run());
    group.spawn(kube::run_while_leading(context_.leadership, [this] { return node_controller_.run(); }));
    group.spawn(kube::run_while_leading(context_.leadership, [this] { return heartbeat(); }));
    co_await group.join();
  } catch (...) {
    ended = std::current_exception();
  }
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await group.stop();
  while (!entries_.empty()) {
    const kube::ObjectKey key = entries_.begin()->first;
    co_await stop_session(key);
    entries_.erase(key);
  }
  if (ended) std::rethrow_exception(ended);
}

bool VirtualNodeController::has_synced() const {
  if (!virtual_nodes_->has_synced() || !nodes_->has_synced() || !slices_->has_synced()) return false;
  for (const kube::ObjectKey& key : virtual_nodes_->store().keys()) {
    const auto entry = entries_.find(key);
    if (entry == entries_.end()) return false;
    if (entry->second.session && !entry->second.session->pods().local_pods().has_synced()) return false;
  }
  return true;
}

bool VirtualNodeController::is_busy() const {
  if (sessions_.is_busy() || node_controller_.is_busy()) return true;
  for (const auto& [key, entry] : entries_)
    if (entry.session && entry.session->is_busy()) return true;
  return false;
}

ProviderSession* VirtualNodeController::find_session(const kube::ObjectKey& local_pod) const {
  for (const auto& [key, entry] : entries_)
    if (entry.session && entry.session->pods().local_pods().store().contains(local_pod)) return entry.session.get();
  return nullptr;
}

const ProviderSession* VirtualNodeController::session_of(const kube::ObjectKey& virtual_node) const {
  const auto entry = entries_.find(virtual_node);
  return entry == entries_.end() ? nullptr : entry->second.session.get();
}

std::vector<std::string> VirtualNodeController::node_names() const {
  std::vector<std::string> names;
  for (const kube::ObjectKey& key : virtual_nodes_->store().keys()) names.push_back(key.name);
  return names;
}

asio::awaitable<void> VirtualNodeController::stop_session(kube::ObjectKey key) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || !found->second.session) co_return;
  const auto session = std::move(found->second.session);
  found->second.digest.clear();
  // What has begun to stop is stopped to its end: a cancelled reconcile would leave the link open.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await session->stop();
}

asio::awaitable<kube::Duration> VirtualNodeController::end_lost_session(kube::ObjectKey key) {
  Entry& entry = entries_[key];
  const kube::TimePoint now = context_.clock.now();
  const kube::Duration pause = entry.restarts.lose(now, context_.random);
  entry.not_before = now + pause;
  const std::string cluster = entry.session->pods().forging().clusters.remote;
  entry.restarts.count(context_.metrics, cluster, "offloading");
  log_.error("the session with the provider has lost a worker and starts anew",
             {{"virtualnode", key},
              {"cluster", cluster},
              {"error", entry.session->loss()},
              {"pause_ms", std::chrono::ceil<std::chrono::milliseconds>(pause).count()}});
  co_await stop_session(key);
  co_return pause;
}

asio::awaitable<Outcome> VirtualNodeController::reconcile_session(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  const auto object = virtual_nodes_->find(key);
  if (!object) {
    co_await stop_session(key);
    entries_.erase(key);
    co_return Outcome::done();
  }
  const VirtualNode virtual_node(*object);
  entries_.try_emplace(key);
  const auto refuse = [&](kube::Failure failure) {
    std::optional<kube::Failure>& trouble = entries_[key].trouble;
    if (!trouble || trouble->text() != failure.text()) {
      log_.warn("no session with the provider", {{"virtualnode", key}, {"error", failure}});
      context_.events.warning(*object, api::kinds::virtual_nodes, "ProviderUnusable", failure.text());
      trouble = std::move(failure);
      node_controller_.enqueue({key.text(), key});
    }
  };

  // Each branch that awaits ends here.
  const Entry& known = entries_[key];
  if (std::string overflow = known.session ? known.session->overflow() : std::string(); !overflow.empty()) {
    co_await stop_session(key);
    entries_[key].not_before = context_.clock.now() + overflow_pause;
    refuse(kube::Failure(kube::Errc::too_large, std::move(overflow)));
    co_return Outcome::again_after(overflow_pause);
  }
  if (std::string loss = known.session ? known.session->loss() : std::string(); !loss.empty()) {
    const kube::Duration pause = co_await end_lost_session(key);
    if (entries_[key].restarts.is_repeated())
      refuse(kube::Failure(kube::Errc::protocol, "The session with cluster " + std::string(virtual_node.cluster_id()) +
                                                     " ends again and again by an error of liqod, and is started anew "
                                                     "each time: " +
                                                     loss));
    co_return Outcome::again_after(pause);
  }
  if (!known.session && context_.clock.now() < known.not_before)
    co_return Outcome::again_after(known.not_before - context_.clock.now());
  if (!known.foreign.empty()) {
    co_await stop_session(key);
    refuse(kube::Failure(kube::Errc::invalid_input, entries_[key].foreign));
    co_return Outcome::done();
  }

  const std::string secret_name(virtual_node.kubeconfig_secret());
  const std::string cluster(virtual_node.cluster_id());
  std::optional<kube::Failure> invalid;
  if (auto name = core::check_node_name(virtual_node.name()); !name) {
    invalid = std::move(name.error());
  } else if (!core::is_dns_label(cluster)) {
    invalid = kube::Failure(kube::Errc::invalid_input, "spec.clusterID is not a cluster ID: \"" + cluster + "\"");
  } else if (secret_name.empty()) {
    invalid = kube::Failure(kube::Errc::missing, "spec.kubeconfigSecretRef names no Secret");
  }
  if (invalid) {
    co_await stop_session(key);
    refuse(std::move(*invalid));
    co_return Outcome::done();
  }

  Entry& entry = entries_[key];
  if (!entry.secret || entry.secret_name != secret_name) {
    entry.secret_name = secret_name;
    entry.secret = context_.home.acquire({.resource = kube::resources::secrets,
                                          .ns = key.ns,
                                          .selection = {.field_selector = "metadata.name=" + secret_name}});
    entry.secret.subscribe([this, key](const kube::ObjectKey&) { sessions_.enqueue({key.text(), key}); });
  }
  if (!entry.secret->has_synced()) {
    if (entry.secret->trouble()) refuse(kube::Failure(*entry.secret->trouble()).in("reading Secret " + secret_name));
    co_return Outcome::again_after(200ms);
  }
  const auto secret = entry.secret->find({key.ns, secret_name});
  if (!secret) {
    // A session that has its credentials goes on without the Secret.
    if (!entry.session)
      refuse(
          kube::Failure(kube::Errc::missing, "Secret " + secret_name + " of namespace " + key.ns + " does not exist"));
    co_return Outcome::done();
  }
  if (!templates_.is_known()) {
    if (templates_.trouble() && !entry.session)
      refuse(kube::Failure(*templates_.trouble()).in("reading the VkOptionsTemplates"));
    co_return Outcome::again_after(200ms);
  }
  if (const auto options = templates_.of(*object)) {
    entry.left_out = core::filters_of(*object, *options ? &**options : nullptr, context_.settings.not_reflected);
  } else if (!entry.left_out && object->is_deleting()) {
    // What is ended is told no more than it has been.
    entry.left_out = core::filters_of(*object, nullptr, context_.settings.not_reflected);
  } else if (!entry.left_out) {
    refuse(kube::Failure(options.error()));
    co_return Outcome::done();
  }
  const core::ReflectionFilters left_out = *entry.left_out;
  const std::string digest = digest_of(*object, *secret, left_out);
  if (entry.session && entry.digest == digest) co_return Outcome::done();

  auto link = connect_(*secret);
  if (!link) {
    refuse(std::move(link.error()).in("Secret " + secret_name + " of namespace " + key.ns));
    co_return Outcome::done();
  }
  // The pods of a machine of that name are none of ours.
  if (!entry.session && virtual_node.create_node()) {
    auto live = co_await context_.home.api().get(kube::resources::nodes, {"", key.name});
    if (!live && !live.error().is_not_found())
      co_return Outcome::retry(std::move(live.error()).in("looking for a Node of that name"));
    entry.foreign = live ? core::why_foreign(*live) : std::string();
    if (!entry.foreign.empty()) {
      refuse(kube::Failure(kube::Errc::invalid_input, entry.foreign));
      co_return Outcome::done();
    }
  }
  co_await stop_session(key);
  api::OffloadingPatch patch = virtual_node.offloading_patch();
  patch.labels_not_reflected = left_out.labels;
  patch.annotations_not_reflected = left_out.annotations;
  core::ForgingContext forging{
      .clusters = {.local = context_.settings.cluster_id, .remote = cluster},
      .node_name = key.name,
      .patch = std::move(patch),
      .api_server_support =
          context_.settings.api_server_support ? core::ApiServerSupport::token_api : core::ApiServerSupport::disabled,
      .api_server_host = context_.settings.api_server_host,
      .api_server_port = context_.settings.api_server_port,
      .ingress_class = std::string(virtual_node.ingress_class()),
      .load_balancer_class = std::string(virtual_node.load_balancer_class()),
  };
  Entry& now = entries_[key];
  now.trouble.reset();
  now.digest = digest;
  now.session = std::make_unique<ProviderSession>(executor_, key.ns, std::move(forging), std::move(*link),
                                                  budget_of(cluster), context_);
  now.session->on_health_change([this, key] { node_controller_.enqueue({key.text(), key}); });
  now.session->on_overflow([this, key] { sessions_.enqueue({key.text(), key}); });
  now.session->on_loss([this, key] { sessions_.enqueue({key.text(), key}); });
  now.restarts.begin(context_.clock.now());
  now.session->pods().on_room_change([this, key] { node_controller_.enqueue({key.text(), key}); });
  now.session->start();
  log_.info("session with the provider started", {{"virtualnode", key}, {"cluster", cluster}});
  node_controller_.enqueue({key.text(), key});
  co_return Outcome::done();
}

std::shared_ptr<ProviderBudget> VirtualNodeController::budget_of(const std::string& cluster) {
  std::erase_if(budgets_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<ProviderBudget>& known = budgets_[cluster];
  if (auto budget = known.lock()) return budget;
  const Settings& settings = context_.settings;
  const kube::StoreUse::Limits limits{.bytes = std::size_t(settings.provider_cache_mib) << 20,
                                      .objects = std::size_t(settings.provider_cache_objects)};
  auto delayed = context_.metrics.counter(families::writes_delayed, {{"cluster", cluster}});
  auto budget = std::make_shared<ProviderBudget>(ProviderBudget{
      .stores = std::make_shared<kube::StoreUse>(limits, context_.metrics, cluster),
      .home_writes =
          WriteBudget(context_.clock, settings.provider_writes_per_second, settings.provider_write_burst, delayed)});
  known = budget;
  return budget;
}

core::ProviderHealth VirtualNodeController::health_of(const kube::Object& virtual_node) const {
  const auto entry = entries_.find(virtual_node.key());
  const bool known = entry != entries_.end();
  core::ProviderHealth health;
  if (known && entry->second.session) {
    health = entry->second.session->health();
  } else {
    health.failure_threshold = context_.settings.probe_failures;
    if (known && entry->second.trouble) {
      health.probed = true;
      health.failed_probes = health.failure_threshold;
      health.refusal = entry->second.trouble->text();
    }
  }
  if (const auto told = withdrawals_.find(std::string(VirtualNode(virtual_node).cluster_id()));
      told != withdrawals_.end() && health.refusal.empty())
    health.refusal = told->second;
  const std::string_view name = virtual_node.label(api::labels::resource_slice_name);
  const auto slice = name.empty() ? std::nullopt : slices_->find({std::string(virtual_node.ns()), std::string(name)});
  const bool no_room = known && entry->second.session && entry->second.session->pods().has_no_room();
  health.closed = core::why_closed(slice ? &*slice : nullptr, no_room);
  return health;
}

void VirtualNodeController::tell_readiness(const kube::ObjectKey& node, std::string why) {
  const auto [known, is_new] = told_unready_.try_emplace(node.name, why);
  const std::string before = std::exchange(known->second, std::move(why));
  if (!is_new && before.empty() == known->second.empty()) return;
  if (known->second.empty()) {
    log_.info("Node is Ready", {{"node", node}});
  } else {
    log_.warn("Node is not Ready", {{"node", node}, {"reason", known->second}});
  }
}

void VirtualNodeController::see_foreign_cluster(const kube::ObjectKey& foreign) {
  std::set<std::string> concerned;
  if (const auto before = clusters_.extract(foreign.name)) concerned.insert(before.mapped());
  if (const auto object = foreign_clusters_->find(foreign)) {
    const std::string cluster(api::ForeignCluster(*object).cluster_id());
    clusters_.emplace(foreign.name, cluster);
    concerned.insert(cluster);
  }
  for (const std::string& cluster : concerned) tell_withdrawal(cluster);
}

void VirtualNodeController::tell_withdrawal(const std::string& cluster) {
  // Of several ForeignClusters for one cluster the oldest counts, here as for its status.
  std::optional<kube::Object> oldest;
  for (const auto& [name, known] : clusters_)
    if (known == cluster)
      if (auto found = foreign_clusters_->find({"", name}); found && (!oldest || is_older(*found, *oldest)))
        oldest = std::move(found);
  const std::string note = oldest ? core::withdrawal_note(*oldest) : "";
  const auto told = withdrawals_.find(cluster);
  if ((told == withdrawals_.end() ? "" : told->second) == note) return;
  if (note.empty()) {
    withdrawals_.erase(told);
  } else {
    withdrawals_.insert_or_assign(cluster, note);
  }
  for (const kube::ObjectKey& key : virtual_nodes_->store().keys())
    if (const auto node = virtual_nodes_->find(key); node && VirtualNode(*node).cluster_id() == cluster)
      node_controller_.enqueue({key.text(), key});
}

asio::awaitable<Outcome> VirtualNodeController::reconcile_node(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  if (!nodes_->has_synced() || !slices_->has_synced()) co_return Outcome::again_after(100ms);
  if (key.ns.empty()) co_return co_await remove_orphan(key);
  const auto object = virtual_nodes_->find(key);
  if (!object) {
    leases_.forget(key.name);
    nodes_made_.erase(key.name);
    told_unready_.erase(key.name);
    // Made by a write whose answer came when its VirtualNode had gone, it is nobody's now.
    if (const kube::ObjectKey node{"", key.name}; nodes_->store().contains(node))
      node_controller_.enqueue({node.name, node});
    co_return Outcome::done();
  }
  if (object->is_deleting()) co_return co_await tear_down(*object);

  auto guarded =
      co_await set_finalizer(context_.home.api(), *virtual_nodes_, *object, api::finalizers::virtual_node, true);
  if (!guarded) co_return Outcome::retry(std::move(guarded.error()));
  const VirtualNode virtual_node(*object);
  const core::ProviderHealth health = health_of(*object);
  const auto entry = entries_.find(key);
  const bool has_session = entry != entries_.end() && entry->second.session;
  const std::string trouble =
      entry != entries_.end() && entry->second.trouble ? entry->second.trouble->text() : std::string();

  kube::Result<void> written;
  const auto node = nodes_->find({"", key.name});
  const bool is_foreign = entry != entries_.end() && !entry->second.foreign.empty();
  if (virtual_node.create_node() && (has_session || node || is_foreign)) {
    // Wanted again while it was being withdrawn.
    if (node && is_withdrawing(*object) && kube::bool_at(node->tree(), {"spec", "unschedulable"})) {
      auto opened = co_await uncordon(node->key());
      if (!opened) co_return Outcome::retry(std::move(opened.error()));
    }
    written = co_await write_node(*object);
    const bool is_written = written.has_value();
    auto told =
        co_await set_condition(key, "Node", is_written ? "Running" : "Creating", is_written ? "" : "NodeNotWritten",
                               is_written ? std::string() : written.error().text());
    if (!told) co_return Outcome::retry(std::move(told.error()));
    // Only now do pods end that others are to replace elsewhere.
    if (const auto now = entries_.find(key); written && now != entries_.end() && now->second.session)
      now->second.session->pods().set_closed(!health.closed.empty(), !health.closed.empty() && health.closed != "full");
  } else if (!virtual_node.create_node()) {
    if (node && core::why_foreign(*node).empty()) co_return co_await withdraw_node(*object, *node);
    auto told = co_await set_condition(key, "Node", "None", "", "");
    if (!told) co_return Outcome::retry(std::move(told.error()));
  }
  kube::Result<void> told;
  if (has_session && health.failed_probes < health.failure_threshold) {
    told = co_await set_condition(key, "VirtualKubelet", "Running", "", "");
  } else {
    const std::string message = has_session ? "The provider does not answer: " + health.last_error : trouble;
    told = co_await set_condition(key, "VirtualKubelet", "Creating", "ProviderUnusable", message);
  }
  if (!told) co_return Outcome::retry(std::move(told.error()));
  if (!written) co_return Outcome::retry(std::move(written.error()));
  co_return Outcome::again_after(health.closed == "full" ? closed_pause : node_refresh);
}

void VirtualNodeController::note_foreign(const kube::ObjectKey& key, const std::string& why) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end() || entry->second.foreign == why) return;
  entry->second.foreign = why;
  sessions_.enqueue({key.text(), key});
}

asio::awaitable<kube::Result<void>> VirtualNodeController::write_node(const kube::Object& object) {
  const VirtualNode virtual_node(object);
  const core::NodeContext ctx = node_context(context_.settings);
  const core::ProviderHealth health = health_of(object);
  const kube::ObjectKey node_key{"", std::string(object.name())};
  kube::Api& home = context_.home.api();
  auto node = nodes_->find(node_key);
  if (!node) {
    const kube::Object wanted = core::forge_node(virtual_node, health, ctx, context_.clock.wall());
    auto created = co_await home.create(kube::resources::nodes, wanted);
    if (created) {
      const bool again = !nodes_made_.insert(node_key.name).second;
      if (again) {
        log_.warn("Node created again: somebody has deleted it", {{"node", node_key}});
      } else {
        log_.info("Node created", {{"node", node_key}});
      }
      note_foreign(object.key(), "");
      const std::string uid(created->uid());
      tell_readiness(node_key, core::unready_reason(*created));
      nodes_->observe(std::move(*created));
      co_await leases_.renew(node_key.name, uid);
      co_return kube::Result<void>();
    }
    if (!created.error().is_already_exists()) co_return kube::fail(std::move(created.error()), "creating the Node");
    // Not in the cache of virtual nodes: look whose it is.
    auto live = co_await home.get(kube::resources::nodes, node_key);
    if (!live) co_return std::unexpected(std::move(live.error()));
    node = std::move(*live);
  }
  const core::NodeUpdate update =
      core::plan_node_update(*node, virtual_node, health, ctx, context_.clock.wall(),
                             std::chrono::duration_cast<std::chrono::seconds>(node_refresh) - 5s);
  // Whose the Node is decides whether there is a session: the pods of a machine are none of ours.
  note_foreign(object.key(), update.refusal);
  if (!update.refusal.empty()) {
    context_.events.warning(object, api::kinds::virtual_nodes, "NodeNameTaken", update.refusal);
    co_return kube::fail(kube::Errc::invalid_input, update.refusal);
  }
  nodes_made_.insert(node_key.name);
  if (update.metadata) {
    auto patched = co_await home.patch(kube::resources::nodes, node_key, kube::PatchType::merge,
                                       kube::json::serialize(*update.metadata));
    if (!patched) co_return kube::fail(std::move(patched.error()), "updating the Node");
    nodes_->observe(std::move(*patched));
  }
  if (update.status) {
    auto patched = co_await home.patch(kube::resources::nodes, node_key, kube::PatchType::strategic_merge,
                                       kube::json::serialize(*update.status), {.subresource = "status"});
    if (!patched) co_return kube::fail(std::move(patched.error()), "updating the Node's status");
    tell_readiness(node_key, core::unready_reason(*patched));
    nodes_->observe(std::move(*patched));
  }
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> VirtualNodeController::set_condition(const kube::ObjectKey& key,
                                                                         std::string_view type, std::string_view status,
                                                                         std::string_view reason, std::string message) {
  const auto object = virtual_nodes_->find(key);
  if (!object) co_return kube::Result<void>();
  auto wanted = api::with_condition(*object, {.type = type, .status = status, .reason = reason, .message = message},
                                    context_.clock.wall());
  if (!wanted) co_return kube::Result<void>();
  const kube::json::object patch{{"metadata", kube::json::object{{"resourceVersion", object->resource_version()}}},
                                 {"status", std::move(*wanted)}};
  auto patched = co_await context_.home.api().patch(api::kinds::virtual_nodes, key, kube::PatchType::merge,
                                                    kube::json::serialize(patch), {.subresource = "status"});
  if (patched) virtual_nodes_->observe(std::move(*patched));
  if (!patched && !patched.error().is_not_found())
    co_return kube::fail(std::move(patched.error()), "setting a condition of the VirtualNode");
  co_return kube::Result<void>();
}

asio::awaitable<void> VirtualNodeController::heartbeat() {
  while (true) {
    const kube::TimePoint start = context_.clock.now();
    std::vector<NodeLeases::Holder> nodes;
    for (const kube::ObjectKey& key : nodes_->store().keys())
      if (!virtual_nodes_->store().keys("name", key.name).empty())
        nodes.push_back({key.name, std::string(nodes_->store().uid(key))});
    co_await leases_.renew_all(std::move(nodes));
    co_await context_.clock.sleep_until(start + context_.settings.lease_interval);
  }
}

}  // namespace liqo::controllers
