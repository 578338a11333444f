#include "liqo/controllers/virtual_node.hpp"

#include <boost/asio/this_coro.hpp>

#include "liqo/api/foreign_cluster.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/controllers/guarded_write.hpp"
#include "liqo/core/mapping/names.hpp"
#include "liqo/core/pod_scheduling.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using api::VirtualNode;
using kube::Outcome;

/// Between two looks at a node that is being drained, each of which lists its pods: in general, and while only a few
/// are left that are ending.
constexpr kube::Duration drain_pause = 2s, ending_pause = 400ms;
constexpr std::size_t few_pods = 50;
/// kube-controller-manager expects a node's status at least this often besides its lease.
constexpr kube::Duration node_refresh = 5min;
constexpr kube::Resource evictions{"policy", "v1", "evictions", "Eviction"};

bool is_virtual(const kube::Object& node) { return node.label(api::labels::type) == api::labels::type_virtual_node; }

/// Everything that a session is made from, as one short text.
std::string digest_of(const kube::Object& virtual_node, const kube::Object& secret) {
  kube::json::object parts;
  parts["secret"] = kube::object_at(secret.tree(), {"data"});
  parts["patch"] = kube::object_at(virtual_node.spec(), {"offloadingPatch"});
  parts["cluster"] = kube::string_at(virtual_node.spec(), {"clusterID"});
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
      sessions_(executor, context.clock, context.random, context.metrics, {.name = "provider-session"},
                [this](kube::WorkKey key) { return reconcile_session(std::move(key)); }),
      node_controller_(executor, context.clock, context.random, context.metrics, {.name = "virtual-node"},
                       [this](kube::WorkKey key) { return reconcile_node(std::move(key)); }),
      log_("virtual-node") {
  virtual_nodes_.subscribe([this](const kube::ObjectKey& key) { enqueue(key); });
  virtual_nodes_->add_index(
      "name", [](const kube::Object& object, std::vector<std::string>& out) { out.emplace_back(object.name()); });
  nodes_.subscribe([this](const kube::ObjectKey& node) {
    const auto keys = virtual_nodes_->store().keys("name", node.name);
    for (const kube::ObjectKey& key : keys) node_controller_.enqueue({key.text(), key});
    // Of nobody, as far as is known.
    if (keys.empty()) node_controller_.enqueue({node.name, node});
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
  if (!virtual_nodes_->has_synced() || !nodes_->has_synced()) return false;
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

asio::awaitable<Outcome> VirtualNodeController::reconcile_session(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  const auto object = virtual_nodes_->find(key);
  if (!object) {
    co_await stop_session(key);
    entries_.erase(key);
    co_return Outcome::done();
  }
  const VirtualNode virtual_node(*object);
  Entry& entry = entries_[key];
  const auto refuse = [&](kube::Failure failure) {
    if (!entry.trouble || entry.trouble->text() != failure.text()) {
      log_.warn("no session with the provider", {{"virtualnode", key}, {"error", failure}});
      context_.events.warning(*object, api::kinds::virtual_nodes, "ProviderUnusable", failure.text());
      entry.trouble = std::move(failure);
      node_controller_.enqueue({key.text(), key});
    }
  };

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
  const std::string digest = digest_of(*object, *secret);
  if (entry.session && entry.digest == digest) co_return Outcome::done();

  auto link = connect_(*secret);
  if (!link) {
    refuse(std::move(link.error()).in("Secret " + secret_name + " of namespace " + key.ns));
    co_return Outcome::done();
  }
  co_await stop_session(key);
  core::ForgingContext forging{
      .clusters = {.local = context_.settings.cluster_id, .remote = cluster},
      .node_name = key.name,
      .patch = virtual_node.offloading_patch(),
      .api_server_support =
          context_.settings.api_server_support ? core::ApiServerSupport::token_api : core::ApiServerSupport::disabled,
      .api_server_host = context_.settings.api_server_host,
      .api_server_port = context_.settings.api_server_port,
  };
  Entry& now = entries_[key];
  now.trouble.reset();
  now.digest = digest;
  now.session = std::make_unique<ProviderSession>(executor_, key.ns, std::move(forging), std::move(*link), context_);
  now.session->on_health_change([this, key] { node_controller_.enqueue({key.text(), key}); });
  now.session->start();
  log_.info("session with the provider started", {{"virtualnode", key}, {"cluster", cluster}});
  node_controller_.enqueue({key.text(), key});
  co_return Outcome::done();
}

core::ProviderHealth VirtualNodeController::health_of(const kube::ObjectKey& key) const {
  const auto entry = entries_.find(key);
  if (entry != entries_.end() && entry->second.session) return entry->second.session->health();
  core::ProviderHealth none;
  none.failure_threshold = context_.settings.probe_failures;
  if (entry != entries_.end() && entry->second.trouble) {
    none.probed = true;
    none.failed_probes = none.failure_threshold;
    none.last_error = entry->second.trouble->text();
  }
  return none;
}

asio::awaitable<Outcome> VirtualNodeController::reconcile_node(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  if (!nodes_->has_synced()) co_return Outcome::again_after(100ms);
  if (key.ns.empty()) co_return co_await remove_orphan(key);
  const auto object = virtual_nodes_->find(key);
  if (!object) {
    leases_.erase(key.name);
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
  const core::ProviderHealth health = health_of(key);
  const auto entry = entries_.find(key);
  const bool has_session = entry != entries_.end() && entry->second.session;
  const std::string trouble =
      entry != entries_.end() && entry->second.trouble ? entry->second.trouble->text() : std::string();

  if (virtual_node.create_node() && (has_session || nodes_->store().contains({"", key.name}))) {
    auto written = co_await write_node(*object);
    if (!written) {
      auto told = co_await set_condition(key, "Node", "Creating", "NodeNotWritten", written.error().text());
      if (!told) co_return Outcome::retry(std::move(told.error()));
      co_return Outcome::retry(std::move(written.error()));
    }
    auto told = co_await set_condition(key, "Node", "Running", "", "");
    if (!told) co_return Outcome::retry(std::move(told.error()));
  } else if (!virtual_node.create_node()) {
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
  co_return Outcome::again_after(node_refresh);
}

asio::awaitable<kube::Result<void>> VirtualNodeController::write_node(const kube::Object& object) {
  const VirtualNode virtual_node(object);
  const core::NodeContext ctx{.node_ip = context_.settings.node_ip,
                              .kubelet_port = context_.settings.kubelet_port,
                              .kubelet_version = context_.settings.kubelet_version,
                              .extra_labels = context_.settings.node_extra_labels,
                              .extra_annotations = context_.settings.node_extra_annotations};
  const core::ProviderHealth health = health_of(object.key());
  const kube::ObjectKey node_key{"", std::string(object.name())};
  kube::Api& home = context_.home.api();
  auto node = nodes_->find(node_key);
  if (!node) {
    const kube::Object wanted = core::forge_node(virtual_node, health, ctx, context_.clock.wall());
    auto created = co_await home.create(kube::resources::nodes, wanted);
    if (created) {
      log_.info("Node created", {{"node", node_key}});
      nodes_->observe(std::move(*created));
      co_await renew_lease(node_key.name);
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
  if (!update.refusal.empty()) {
    context_.events.warning(object, api::kinds::virtual_nodes, "NodeNameTaken", update.refusal);
    co_return kube::fail(kube::Errc::invalid_input, update.refusal);
  }
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

asio::awaitable<Outcome> VirtualNodeController::remove_orphan(kube::ObjectKey node_key) {
  const auto node = nodes_->find(node_key);
  // Told once: nothing but the Node's own events brings it here, and the VirtualNodes may come later.
  if (!virtual_nodes_->has_synced()) co_return Outcome::again_after(100ms);
  if (!node || !node->has_annotation(api::annotations::applied_node) ||
      !virtual_nodes_->store().keys("name", node_key.name).empty())
    co_return Outcome::done();
  // A consistent read: the cache may be behind another replica, which has made the Node.
  const kube::ListOptions options{.selection = {.field_selector = "metadata.name=" + node_key.name}, .limit = 1};
  auto page = co_await context_.home.api().list(api::kinds::virtual_nodes, "", options);
  if (!page) co_return Outcome::retry(std::move(page.error()).in("looking for the VirtualNode of a Node"));
  if (!page->items.empty()) co_return Outcome::done();
  auto removed =
      co_await context_.home.api().remove(kube::resources::nodes, node_key, {.uid = std::string(node->uid())});
  if (!removed && !removed.error().is_not_found() && !removed.error().is_conflict())
    co_return Outcome::retry(std::move(removed.error()).in("deleting a Node without VirtualNode"));
  if (!removed) co_return Outcome::done();
  log_.warn("Node deleted that came into being when its VirtualNode was gone", {{"node", node_key}});
  co_return Outcome::done();
}

asio::awaitable<Outcome> VirtualNodeController::tear_down(kube::Object virtual_node) {
  const kube::ObjectKey key = virtual_node.key();
  const kube::ObjectKey node_key{"", key.name};
  if (!virtual_node.has_finalizer(api::finalizers::virtual_node)) co_return Outcome::done();
  auto node = nodes_->find(node_key);
  if (!node) {
    // One whose creation got no answer may be there all the same, and this is the last that anybody looks for it.
    auto live = co_await context_.home.api().get(kube::resources::nodes, node_key);
    if (!live && !live.error().is_not_found())
      co_return Outcome::retry(std::move(live.error()).in("looking for the Node"));
    if (live) node = std::move(*live);
  }
  if (node && is_virtual(*node)) {
    auto told = co_await set_condition(key, "Node", "Draining", "VirtualNodeDeleted", "");
    if (!told) co_return Outcome::retry(std::move(told.error()));
    const std::string since(kube::string_at(virtual_node.tree(), {"metadata", "deletionTimestamp"}));
    auto drained = co_await drain(*node, since, is_lost(VirtualNode(virtual_node).cluster_id()));
    if (!drained) co_return Outcome::retry(std::move(drained.error()));
    if (drained->look_again > kube::Duration::zero()) co_return Outcome::again_after(drained->look_again);
    auto removed =
        co_await context_.home.api().remove(kube::resources::nodes, node_key, {.uid = std::string(node->uid())});
    if (!removed && !removed.error().is_not_found())
      co_return Outcome::retry(std::move(removed.error()).in("deleting the Node"));
    log_.info("Node deleted", {{"node", node_key}});
    // No kubelet ends them, and Kubernetes' own collector would take a minute.
    for (const kube::Object& pod : drained->leftovers)
      static_cast<void>(co_await context_.home.api().remove(
          kube::resources::pods, pod.key(), {.uid = std::string(pod.uid()), .grace_period_seconds = 0}));
  }
  leases_.erase(key.name);
  auto released =
      co_await set_finalizer(context_.home.api(), *virtual_nodes_, latest_of(*virtual_nodes_, std::move(virtual_node)),
                             api::finalizers::virtual_node, false);
  if (!released) co_return Outcome::retry(std::move(released.error()));
  co_return Outcome::done();
}

asio::awaitable<kube::Result<VirtualNodeController::Drained>> VirtualNodeController::drain(const kube::Object& node,
                                                                                           std::string_view since,
                                                                                           bool force) {
  kube::Api& home = context_.home.api();
  if (!kube::bool_at(node.tree(), {"spec", "unschedulable"})) {
    const kube::json::object patch{{"spec", kube::json::object{{"unschedulable", true}}}};
    auto cordoned =
        co_await home.patch(kube::resources::nodes, node.key(), kube::PatchType::merge, kube::json::serialize(patch));
    if (!cordoned) co_return kube::fail(std::move(cordoned.error()), "cordoning the Node");
    nodes_->observe(std::move(*cordoned));
  }
  // A consistent read: the Node goes only when no pod is on it, and a cache could lag behind a late binding.
  const kube::ListOptions options{.selection = {.field_selector = "spec.nodeName=" + std::string(node.name())}};
  auto page = co_await home.list(kube::resources::pods, "", options);
  if (!page) co_return kube::fail(std::move(page.error()), "listing the pods of the Node");
  Drained drained;
  std::size_t left = 0;
  bool all_end = true;
  for (kube::json::value& item : page->items) {
    auto pod = kube::Object::from(std::move(item));
    if (!pod) continue;
    if (core::goes_with_node(*pod, since)) {
      drained.leftovers.push_back(std::move(*pod));
      continue;
    }
    ++left;
    if (force) {
      // Nobody will ever tell of its end: no budget and no grace period can be waited for.
      auto removed = co_await home.remove(kube::resources::pods, pod->key(),
                                          {.uid = std::string(pod->uid()), .grace_period_seconds = 0});
      if (!removed && !removed.error().is_not_found() && !removed.error().is_conflict())
        co_return kube::fail(std::move(removed.error()), "removing a pod of a provider that is gone");
      continue;
    }
    if (pod->is_deleting()) continue;
    kube::json::object eviction{
        {"apiVersion", evictions.api_version()},
        {"kind", evictions.kind},
        {"metadata", kube::json::object{{"name", pod->name()}, {"namespace", pod->ns()}}},
        {"deleteOptions", kube::json::object{{"preconditions", kube::json::object{{"uid", pod->uid()}}}}}};
    auto evicted = co_await home.post(kube::resources::pods, pod->key(), "eviction", std::move(eviction));
    // 429: a disruption budget asks for patience; 404 and 409: gone, or another pod by now.
    all_end = all_end && evicted;
    if (!evicted && evicted.error().http_code() != 429 && evicted.error().http_code() != 404 &&
        evicted.error().http_code() != 409)
      co_return kube::fail(std::move(evicted.error()), "evicting a pod");
  }
  if (left > 0) drained.look_again = all_end && left <= few_pods ? ending_pause : drain_pause;
  co_return drained;
}

bool VirtualNodeController::is_lost(std::string_view cluster) const {
  for (const kube::ObjectKey& key : foreign_clusters_->store().keys()) {
    const auto object = foreign_clusters_->find(key);
    if (object && api::ForeignCluster(*object).cluster_id() == cluster &&
        api::ForeignCluster(*object).is_permanently_unreachable())
      return true;
  }
  return false;
}

asio::awaitable<void> VirtualNodeController::heartbeat() {
  while (true) {
    const kube::TimePoint start = context_.clock.now();
    for (const kube::ObjectKey& key : nodes_->store().keys())
      if (!virtual_nodes_->store().keys("name", key.name).empty()) co_await renew_lease(key.name);
    co_await context_.clock.sleep_until(start + context_.settings.lease_interval);
  }
}

asio::awaitable<void> VirtualNodeController::renew_lease(std::string name) {
  const auto node = nodes_->find({"", name});
  if (!node) co_return;
  kube::Api& home = context_.home.api();
  const kube::ObjectKey key{"kube-node-lease", name};
  const auto known = leases_.find(name);
  std::optional<kube::Object> lease;
  if (known != leases_.end()) lease = known->second;
  if (!lease) {
    auto live = co_await home.get(kube::resources::leases, key);
    if (live) lease = std::move(*live);
    if (!live && !live.error().is_not_found()) {
      log_.warn("the node's lease cannot be read", {{"node", name}, {"error", live.error()}});
      co_return;
    }
  }
  const bool exists = lease.has_value();
  if (!exists) lease = kube::Object::make(kube::resources::leases, key);
  kube::json::object& spec = lease->mutable_spec();
  spec["holderIdentity"] = name;
  spec["leaseDurationSeconds"] = context_.settings.lease_seconds;
  spec["renewTime"] = kube::format_micro_time(context_.clock.wall());
  lease->mutable_metadata()["ownerReferences"] = kube::json::array{
      kube::json::object{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", name}, {"uid", node->uid()}}};
  auto written = exists ? co_await home.replace(kube::resources::leases, *lease)
                        : co_await home.create(kube::resources::leases, *lease);
  if (written) {
    leases_.insert_or_assign(name, std::move(*written));
    co_return;
  }
  // Read again next time: somebody else wrote it, or it was removed with an earlier Node of this name.
  leases_.erase(name);
  log_.warn("the node's lease was not renewed", {{"node", name}, {"error", written.error()}});
}

}  // namespace liqo::controllers
