#include "controllers/nodes/virtual_node.hpp"

#include <boost/asio/this_coro.hpp>

#include "controllers/common/node_context.hpp"
#include "controllers/common/older_namesake.hpp"
#include "controllers/common/scopes.hpp"
#include "controllers/nodes/virtual_node_condition.hpp"
#include "core/nodes/namesakes.hpp"
#include "core/nodes/node_extras.hpp"
#include "core/offloading/capacity.hpp"
#include "kube/async/finally.hpp"
#include "kube/async/vital.hpp"
#include "kube/runtime/finalizer.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using api::VirtualNode;
using kube::Outcome;
namespace action = core::virtual_node_action;

/// kube-controller-manager expects a node's status at least this often besides its lease. Many Nodes do not come all at
/// once.
constexpr std::chrono::seconds earliest_refresh = 3min, latest_refresh = 5min;
/// How soon a closed node is looked at again: whether there is room shows only where somebody asks.
constexpr kube::Duration closed_pause = 5s;

}  // namespace

VirtualNodeController::VirtualNodeController(ConnectProvider connect, ProviderBudgets& budgets, Context context)
    : context_(context),
      virtual_nodes_(context.home.acquire({.resource = api::kinds::virtual_nodes})),
      nodes_(context.home.acquire(scope_of_virtual_nodes())),
      slices_(context.home.acquire({.resource = api::kinds::resource_slices})),
      node_identities_(nodes_,
                       [](const kube::Object& node) {
                         return NodeIdentity{.uid = std::string(node.uid()),
                                             .is_foreign = !core::why_foreign(node).empty()};
                       }),
      notices_(context,
               [this](const std::string& cluster) {
                 for (const kube::Object& node : virtual_nodes_->objects())
                   if (VirtualNode(node).cluster_id() == cluster) enqueue(node.key());
               }),
      ports_(context.settings.nodes.kubelet_ports),
      templates_(context),
      leases_(context),
      sessions_(connect, budgets, context, [this](const kube::ObjectKey& key) { enqueue(key); }),
      namesakes_(std::move(connect), sessions_, notices_, context),
      controller_(context, {.name = "virtualnode"}, [this](kube::WorkKey key) { return reconcile(std::move(key)); }),
      log_("virtual-node") {
  // One that goes or comes may leave the Node of its name to another one, or take it.
  virtual_nodes_.subscribe([this](const kube::ObjectKey& key) {
    enqueue(key);
    enqueue_nodes({key.name});
  });
  index_by_node_name(*virtual_nodes_);
  nodes_.subscribe([this](const kube::Change& change) {
    const kube::ObjectKey& node = change.key;
    enqueue_nodes(ports_.see(node.name, change.now ? core::shown_port(*change.now) : std::nullopt));
    const auto keys = virtual_nodes_->store().keys(by_node_name, node.name);
    for (const kube::ObjectKey& key : keys) enqueue(key);
    // The Node may be an orphan: no VirtualNode of its name is known.
    if (keys.empty()) controller_.enqueue({node.name, node});
  });
  // The label names the slice of a VirtualNode, whatever the VirtualNode itself is called.
  virtual_nodes_->add_index("slice", [](const kube::Object& object, std::vector<std::string>& out) {
    if (const std::string_view slice = object.label(api::labels::resource_slice_name); !slice.empty())
      out.emplace_back(slice);
  });
  templates_.subscribe([this] {
    for (const kube::ObjectKey& key : virtual_nodes_->store().keys()) enqueue(key);
  });
  slices_.subscribe([this](const kube::ObjectKey& slice) {
    for (const kube::ObjectKey& key : virtual_nodes_->store().keys("slice", slice.name))
      if (key.ns == slice.ns) enqueue(key);
  });
}

VirtualNodeController::~VirtualNodeController() = default;

asio::awaitable<void> VirtualNodeController::run() {
  // The Nodes end first: without its session a Node would look as if its provider were not there.
  kube::async::TaskGroup sessions(co_await asio::this_coro::executor), nodes(co_await asio::this_coro::executor);
  std::exception_ptr lost;
  sessions.spawn(kube::async::vital(sessions_.run(), nodes, lost));
  nodes.spawn(kube::run_while_leading(context_.leadership, [this] { return reconcile_all(); }));
  nodes.spawn(kube::run_while_leading(context_.leadership, [this] { return namesakes_.run(); }));
  nodes.spawn(kube::run_while_leading(context_.leadership, [this] { return heartbeat(); }));
  co_await kube::async::finally(nodes.join(), kube::async::stop_in_turn(nodes, sessions));
  if (lost) std::rethrow_exception(lost);
}

asio::awaitable<void> VirtualNodeController::reconcile_all() {
  ports_.forget_decisions();
  co_await controller_.run();
}

bool VirtualNodeController::has_synced() const {
  return nodes_->has_synced() && slices_->has_synced() && sessions_.has_synced();
}

std::vector<std::string> VirtualNodeController::node_names() const {
  std::set<std::string> names;
  for (const kube::ObjectKey& key : virtual_nodes_->store().keys()) names.insert(key.name);
  return {names.begin(), names.end()};
}

ProviderSession* VirtualNodeController::session_of(const std::string& node) const {
  for (const kube::ObjectKey& key : virtual_nodes_->store().keys(by_node_name, node))
    if (ProviderSession* session = sessions_.find(key)) return session;
  return nullptr;
}

void VirtualNodeController::enqueue_nodes(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    for (const kube::ObjectKey& key : virtual_nodes_->store().keys(by_node_name, name)) enqueue(key);
}

std::uint16_t VirtualNodeController::decide_port(const kube::Object& virtual_node) {
  const auto [port, is_shared_now] = ports_.decide(std::string(virtual_node.name()));
  if (is_shared_now)
    context_.events.warning(virtual_node, api::kinds::virtual_nodes, "KubeletPortShared",
                            "node " + std::string(virtual_node.name()) + " shares port " + std::to_string(port) +
                                " of the kubelet API with other virtual nodes, so paths that name no pod are not "
                                "served there: there are more virtual nodes than ports (--listen-port-count)");
  return port;
}

core::ProviderHealth VirtualNodeController::health_of(const kube::Object& virtual_node) const {
  const ProviderSession* session = sessions_.find(virtual_node.key());
  core::ProviderHealth health;
  if (session) {
    health = session->health();
    health.refusal = session->blockage();
  } else {
    health.failure_threshold = context_.settings.nodes.probe_failures;
    if (std::string trouble = sessions_.trouble(virtual_node.key()); !trouble.empty()) {
      health.probed = true;
      health.failed_probes = health.failure_threshold;
      health.refusal = std::move(trouble);
    }
  }
  if (!context_.settings.reflection.custom_resources.empty()) {
    health.custom = session ? session->cluster()->custom_state() : core::CustomState();
    if (!session) health.custom->message = "there is no session with the provider";
  }
  const VirtualNode view(virtual_node);
  bool silent = false;
  if (const PeerNotices::Notice* told = notices_.find(std::string(view.cluster_id()))) {
    if (health.refusal.empty()) health.refusal = told->withdrawal;
    health.silence = told->silence.words;
    silent = told->silence.closes;
    if (!view.disable_network_check()) health.network = told->network;
  }
  const std::string_view name = virtual_node.label(api::labels::resource_slice_name);
  const auto slice = name.empty() ? std::nullopt : slices_->find({std::string(virtual_node.ns()), std::string(name)});
  const bool no_room = session && session->pods().has_no_room();
  health.closed = core::why_closed(slice ? &*slice : nullptr, no_room, silent);
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

void VirtualNodeController::forget(const std::string& name) {
  // The Node is that of the others of this name.
  if (!virtual_nodes_->store().keys(by_node_name, name).empty()) return;
  leases_.forget(name);
  nodes_made_.erase(name);
  told_unready_.erase(name);
  enqueue_nodes(ports_.forget(name));
  // A create that was answered after its VirtualNode had gone left this Node behind.
  if (const kube::ObjectKey node{"", name}; nodes_->store().contains(node)) controller_.enqueue({node.name, node});
}

asio::awaitable<Outcome> VirtualNodeController::reconcile(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  if (!virtual_nodes_->has_synced() || !nodes_->has_synced() || !slices_->has_synced())
    co_return Outcome::again_after(100ms);
  if (key.ns.empty()) co_return co_await remove_orphan(key);
  const auto object = virtual_nodes_->find(key);
  if (!object) {
    forget(key.name);
    co_return Outcome::done();
  }
  // Nothing of the Node is its own then, and NamesakeController looks after it.
  if (older_namesake(*virtual_nodes_, *object)) co_return Outcome::done();
  if (object->is_deleting()) co_return co_await tear_down(*object);

  auto guarded = co_await add_finalizer(context_.home.api(), *virtual_nodes_, *object, api::finalizers::virtual_node);
  if (!guarded) co_return Outcome::retry(std::move(guarded.error()));
  const core::ProviderHealth health = health_of(*object);
  const auto node = nodes_->find({"", key.name});
  const ProviderSession* const session = sessions_.find(key);
  const core::VirtualNodePlan plan =
      core::plan_virtual_node({.virtual_node = *object,
                               .node = node ? &*node : nullptr,
                               .health = health,
                               .has_session = session != nullptr,
                               .is_foreign = sessions_.is_foreign(key),
                               .trouble = session ? session->blockage() : sessions_.trouble(key)});
  if (std::holds_alternative<action::Withdraw>(plan)) co_return co_await withdraw_node(*object, *node);
  co_return co_await carry_out(*object, std::get<action::Keep>(plan));
}

asio::awaitable<Outcome> VirtualNodeController::carry_out(kube::Object virtual_node, action::Keep plan) {
  const kube::ObjectKey key = virtual_node.key();
  kube::Result<void> written;
  for (const action::Step& step : plan.steps) {
    kube::Result<void> done;
    if (std::holds_alternative<action::Uncordon>(step)) {
      done = co_await uncordon({"", key.name});
    } else if (const auto* due = std::get_if<action::WriteNode>(&step)) {
      written = co_await write_node(virtual_node);
      const action::Tell how = core::tell_written(written);
      done = co_await set_condition(key, how.condition());
      // Only now do pods end whose owners make others elsewhere.
      if (ProviderSession* session = sessions_.find(key); done && written && session)
        session->pods().set_closed(due->is_closed, due->is_told);
    } else if (std::holds_alternative<action::FreePort>(step)) {
      enqueue_nodes(ports_.forget(key.name));
    } else if (const auto* told = std::get_if<action::Tell>(&step)) {
      done = co_await set_condition(key, told->condition());
    }
    if (!done) co_return Outcome::retry(std::move(done.error()));
  }
  if (!written) co_return Outcome::retry(std::move(written.error()));
  if (plan.look_soon) co_return Outcome::again_after(closed_pause);
  co_return Outcome::again_after(context_.random.between(earliest_refresh, latest_refresh));
}

kube::Object VirtualNodeController::with_template(const kube::Object& virtual_node, const kube::Object* node) const {
  if (templates_.is_known())
    if (const auto options = templates_.of(virtual_node))
      // ClusterReflection tells what is refused.
      return *options ? core::with_extras(virtual_node, core::node_extras(**options).usable) : virtual_node;
  // Selectors of namespaces and pods may go by what it said last.
  return node ? core::with_extras(virtual_node, core::applied_extras(*node)) : virtual_node;
}

asio::awaitable<kube::Result<void>> VirtualNodeController::write_node(const kube::Object& object) {
  core::NodeContext ctx = node_context(context_.settings);
  ctx.kubelet_port = decide_port(object);
  const core::ProviderHealth health = health_of(object);
  auto node = nodes_->find({"", std::string(object.name())});
  if (!node) {
    auto found = co_await create_node(object, health, ctx);
    if (!found) co_return std::unexpected(std::move(found.error()));
    if (!*found) co_return kube::Result<void>();
    node = std::move(*found);
  }
  co_return co_await update_node(object, *node, health, ctx);
}

asio::awaitable<kube::Result<std::optional<kube::Object>>> VirtualNodeController::create_node(
    const kube::Object& object, const core::ProviderHealth& health, const core::NodeContext& ctx) {
  const kube::ObjectKey key{"", std::string(object.name())};
  kube::Api& home = context_.home.api();
  const kube::Object wish = with_template(object, nullptr);
  auto created = co_await home.create(
      kube::resources::nodes,
      core::forge_node({.virtual_node = VirtualNode(wish), .health = health, .ctx = ctx}, context_.clock.wall()));
  if (!created && created.error().is_already_exists()) {
    // Not in the cache of virtual nodes: look whose it is.
    auto live = co_await home.get(kube::resources::nodes, key);
    if (!live) co_return kube::fail(std::move(live.error()), "looking at the Node of that name");
    co_return std::move(*live);
  }
  if (!created) co_return kube::fail(std::move(created.error()), "creating the Node");
  if (nodes_made_.insert(key.name).second) {
    log_.info("Node created", {{"node", key}});
  } else {
    log_.warn("Node created again: somebody has deleted it", {{"node", key}});
  }
  sessions_.note_foreign(object.key(), "");
  const std::string uid(created->uid());
  tell_readiness(key, core::unready_reason(*created));
  nodes_->observe(std::move(*created));
  co_await leases_.renew(key.name, uid);
  co_return std::nullopt;
}

asio::awaitable<kube::Result<void>> VirtualNodeController::update_node(const kube::Object& object,
                                                                       const kube::Object& node,
                                                                       const core::ProviderHealth& health,
                                                                       const core::NodeContext& ctx) {
  const kube::ObjectKey key = node.key();
  kube::Api& home = context_.home.api();
  const kube::Object wish = with_template(object, &node);
  const core::NodePlan plan = core::plan_node(node, {.virtual_node = VirtualNode(wish), .health = health, .ctx = ctx},
                                              context_.clock.wall(), earliest_refresh - 5s);
  const auto* refusal = std::get_if<core::node_action::Refuse>(&plan);
  // There is a session only where the Node is ours: the pods of a machine are not.
  sessions_.note_foreign(object.key(), refusal ? refusal->why : "");
  if (refusal) {
    enqueue_nodes(ports_.forget(key.name));
    context_.events.warning(object, api::kinds::virtual_nodes, core::name_taken, refusal->why);
    co_return kube::fail(kube::Errc::invalid_input, refusal->why);
  }
  const auto& update = std::get<core::node_action::Update>(plan);
  nodes_made_.insert(key.name);
  if (update.metadata) {
    auto patched = co_await home.patch(kube::resources::nodes, key,
                                       {kube::PatchType::merge, kube::json::serialize(*update.metadata)});
    if (!patched) co_return kube::fail(std::move(patched.error()), "updating the Node");
    nodes_->observe(std::move(*patched));
  }
  if (update.status) {
    auto patched = co_await home.patch(kube::resources::nodes, key,
                                       {kube::PatchType::strategic_merge, kube::json::serialize(*update.status)},
                                       {.subresource = "status"});
    if (!patched) co_return kube::fail(std::move(patched.error()), "updating the Node's status");
    tell_readiness(key, core::unready_reason(*patched));
    nodes_->observe(std::move(*patched));
  }
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> VirtualNodeController::set_condition(const kube::ObjectKey& key,
                                                                         kube::Condition condition) {
  return set_virtual_node_condition(context_, *virtual_nodes_, key, condition);
}

asio::awaitable<void> VirtualNodeController::heartbeat() {
  while (true) {
    const kube::TimePoint start = context_.clock.now();
    std::vector<NodeLeases::Holder> nodes;
    for (const auto& [key, node] : node_identities_.all()) {
      // A machine that has registered under the name keeps its Node alive itself, or is dead.
      if (node.is_foreign)
        leases_.forget(key.name);
      else if (!virtual_nodes_->store().keys(by_node_name, key.name).empty())
        nodes.push_back({key.name, node.uid});
    }
    co_await leases_.renew_all(std::move(nodes));
    co_await context_.clock.sleep_until(start + context_.settings.nodes.lease_interval);
  }
}

}  // namespace liqo::controllers
