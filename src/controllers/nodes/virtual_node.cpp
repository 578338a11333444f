#include "controllers/nodes/virtual_node.hpp"

#include <boost/asio/this_coro.hpp>
#include <set>

#include "controllers/common/older_namesake.hpp"
#include "controllers/common/scopes.hpp"
#include "controllers/nodes/virtual_node_condition.hpp"
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

/// How soon a closed node is looked at again: only an order shows whether there is room.
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
      writer_(context, {.nodes = nodes_,
                        .templates = templates_,
                        .ports = ports_,
                        .leases = leases_,
                        .sessions = sessions_,
                        .ports_changed = [this](const std::vector<std::string>& names) { enqueue_nodes(names); }}),
      drain_(nodes_, context),
      namesakes_(std::move(connect), sessions_, notices_, context),
      controller_(context, {.name = "virtualnode"}, [this](kube::WorkKey key) { return reconcile(std::move(key)); }),
      log_("virtual-node") {
  // A VirtualNode that is deleted or created may leave the Node of its name to another one, or take it over.
  controller_.watch(virtual_nodes_, [this](const kube::ObjectKey& key) {
    enqueue(key);
    enqueue_nodes({key.name});
  });
  index_by_node_name(*virtual_nodes_);
  controller_.watch(nodes_, [this](const kube::Change& change) {
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
  controller_.watch(slices_, [this](const kube::ObjectKey& slice) {
    for (const kube::ObjectKey& key : virtual_nodes_->store().keys("slice", slice.name))
      if (key.ns == slice.ns) enqueue(key);
  });
}

VirtualNodeController::~VirtualNodeController() = default;

asio::awaitable<void> VirtualNodeController::run() {
  // The Nodes end first: without its session a Node would look as if its provider were unreachable.
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

bool VirtualNodeController::has_synced() const { return controller_.has_synced() && sessions_.has_synced(); }

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
  if (const PeerNotices::Notice* notice = notices_.find(std::string(view.cluster_id()))) {
    if (health.refusal.empty()) health.refusal = notice->withdrawal;
    health.silence = notice->silence.words;
    silent = notice->silence.closes;
    if (!view.disable_network_check()) health.network = notice->network;
  }
  const std::string_view name = virtual_node.label(api::labels::resource_slice_name);
  const auto slice = name.empty() ? std::nullopt : slices_->find({std::string(virtual_node.ns()), std::string(name)});
  const bool no_room = session && session->pods().has_no_room();
  health.closed = core::why_closed(slice ? &*slice : nullptr, no_room, silent);
  return health;
}

void VirtualNodeController::forget(const std::string& name) {
  // The Node belongs to another VirtualNode of this name.
  if (!virtual_nodes_->store().keys(by_node_name, name).empty()) return;
  leases_.forget(name);
  writer_.forget(name);
  enqueue_nodes(ports_.forget(name));
  // A create that was answered after its VirtualNode was gone left this Node behind.
  if (const kube::ObjectKey node{"", name}; nodes_->store().contains(node)) controller_.enqueue({node.name, node});
}

asio::awaitable<Outcome> VirtualNodeController::reconcile(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  if (key.ns.empty()) co_return co_await remove_orphan(key);
  const auto object = virtual_nodes_->find(key);
  if (!object) {
    forget(key.name);
    co_return Outcome::done();
  }
  // The Node then does not belong to it, and NamesakeController handles it.
  if (older_namesake(*virtual_nodes_, *object)) co_return Outcome::done();
  if (object->is_deleting()) co_return co_await tear_down(*object);

  KUBE_CO_TRYV(co_await add_finalizer(context_.home.api(), *virtual_nodes_, *object, api::finalizers::virtual_node));
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
      done = co_await writer_.uncordon(key.name);
    } else if (const auto* due = std::get_if<action::WriteNode>(&step)) {
      written = co_await writer_.write(virtual_node, health_of(virtual_node));
      const action::Report how = core::report_written(written);
      done = co_await set_condition(key, how.condition());
      // Only now may refused pods end: their owners make others elsewhere.
      if (ProviderSession* session = sessions_.find(key); done && written && session)
        session->pods().set_closed(due->is_closed, due->is_reported);
    } else if (std::holds_alternative<action::FreePort>(step)) {
      enqueue_nodes(ports_.forget(key.name));
    } else if (const auto* report = std::get_if<action::Report>(&step)) {
      done = co_await set_condition(key, report->condition());
    }
    if (!done) co_return Outcome::retry(std::move(done.error()));
  }
  if (!written) co_return Outcome::retry(std::move(written.error()));
  if (plan.look_soon) co_return Outcome::again_after(closed_pause);
  co_return Outcome::again_after(context_.random.between(NodeWriter::earliest_refresh, NodeWriter::latest_refresh));
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
