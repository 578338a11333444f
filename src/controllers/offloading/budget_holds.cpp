#include "controllers/offloading/budget_holds.hpp"

#include <set>
#include <tuple>

#include "controllers/common/known.hpp"
#include "controllers/common/scopes.hpp"
#include "core/namespaces/belonging.hpp"
#include "kube/k8s/condition.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;
namespace json = kube::json;
using api::kinds::disruption_budgets;

}  // namespace

BudgetHolds::BudgetHolds(Context context)
    : context_(context),
      budgets_(context.home.acquire({.resource = disruption_budgets})),
      machines_(context.home.acquire(scope_of_machines())),
      virtual_nodes_(context.home.acquire(scope_of_virtual_nodes())),
      pods_(context.home.acquire(scope_of_consumer_pods())),
      namespaces_(context.home.acquire({.resource = kube::resources::namespaces})),
      consumers_(context),
      controller_(context, {.name = "budget-holds", .fill = [this] { fill(); }},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  controller_.watch(budgets_, [this](const kube::ObjectKey& key) { enqueue(key.ns); });
  controller_.follow(namespaces_, [this](const kube::Change& ns) { see_namespace(ns); });
  controller_.follow(machines_, [this](const kube::Change& node) { see_node(node); });
  controller_.follow(virtual_nodes_, [this](const kube::Change& node) { see_node(node); });
  controller_.watch(pods_, [this](const kube::Change& pod) { see_pod(pod); });
}

bool BudgetHolds::has_synced() const {
  return controller_.has_synced() || (!budgets_->has_synced() && is_known_or_forbidden(*budgets_));
}

void BudgetHolds::fill() { enqueue_all(); }

void BudgetHolds::enqueue_all() {
  std::set<std::string> twins;
  for (const kube::ObjectKey& key : budgets_->store().keys()) twins.insert(key.ns);
  for (const kube::Object& ns : namespaces_->objects())
    if (ns.has_annotation(api::annotations::budgets_lifted)) twins.emplace(ns.name());
  for (const std::string& twin : twins) enqueue(twin);
}

bool BudgetHolds::is_concerned(const std::string& twin) const {
  if (!budgets_->store().keys_in(twin).empty()) return true;
  const auto ns = namespaces_->find({"", twin});
  return ns && ns->has_annotation(api::annotations::budgets_lifted);
}

void BudgetHolds::see_namespace(const kube::Change& ns) {
  if (const auto consumers = consumers_.observe(ns)) {
    // The policy of a consumer is in another namespace than its twins.
    if (!consumers->empty())
      enqueue_all();
    else if (is_concerned(ns.key.name))
      enqueue(ns.key.name);
  }
}

void BudgetHolds::see_node(const kube::Change& node) {
  const std::string& name = node.key.name;
  const auto known = cordoned_.find(name);
  const kube::WallTime seen_at = known == cordoned_.end() ? context_.clock.wall() : known->second;
  const auto since = node.now ? core::cordoned_since(*node.now, seen_at) : std::nullopt;
  if (since.has_value() == (known != cordoned_.end()) && (!since || *since == known->second)) return;
  if (since)
    cordoned_[name] = *since;
  else
    cordoned_.erase(known);
  enqueue_all();
}

void BudgetHolds::see_pod(const kube::Change& pod) {
  const std::string& ns = pod.key.ns;
  if (cordoned_.empty() || !is_concerned(ns)) return;
  const auto state = [](const kube::Object& object) {
    return std::tuple(object.is_deleting(), kube::has_condition(object, "Ready"),
                      std::string(kube::string_at(object.spec(), {"nodeName"})), object.labels());
  };
  if (pod.changes(state)) enqueue(ns);
}

asio::awaitable<Outcome> BudgetHolds::reconcile(kube::WorkKey key) {
  const std::string name = key.object.name;
  const auto twin = namespaces_->find({"", name});
  if (!twin || twin->is_deleting() || core::consumer_of_twin(*twin).empty()) co_return Outcome::done();
  const std::string consumer(core::consumer_of_twin(*twin));
  const auto max_block = consumers_.policy_of(name).max_block;
  std::vector<kube::Object> pods, copies;
  bool is_wanted = false;
  for (kube::Object& copy : budgets_->objects_in(name)) {
    // The administrator of this cluster may have budgets in a twin, too.
    if (copy.is_deleting() || !copy.has_label(api::labels::reflection_origin)) continue;
    is_wanted = is_wanted || copy.has_annotation(api::annotations::evictions_wanted);
    copies.push_back(std::move(copy));
  }
  if (!cordoned_.empty() || is_wanted)
    for (kube::Object& pod : pods_->objects_in(name)) pods.push_back(std::move(pod));
  const kube::WallTime now = context_.clock.wall();
  const core::HeldTwin held = core::find_held(pods, cordoned_, max_block.value_or(0s), now);

  const bool is_marked = twin->has_annotation(api::annotations::budgets_lifted);
  const core::PodNames contested = core::contested(copies, pods, held.there);
  std::vector<kube::Object> lifted;
  for (kube::Object& copy : copies) {
    if (!max_block || !core::why_no_copy(copy, consumer).empty()) {
      KUBE_CO_TRYV(co_await remove(std::move(copy)));
    } else if (core::holds_one(copy, pods, held.late) || core::holds_one(copy, pods, contested)) {
      lifted.push_back(std::move(copy));
    } else if (const auto patch = core::wanted_patch(copy, pods, held.wanted)) {
      KUBE_CO_TRYV(co_await kube::merge_patch(context_.home.api(), *budgets_, copy.key(),
                                              {.body = json::serialize(*patch), .phase = "asking for evictions"}));
    }
  }
  // The mark comes first: otherwise a copy might come back before it.
  const bool is_lifted = max_block && !held.there.empty() && (is_marked || !lifted.empty());
  if (is_lifted != is_marked) {
    KUBE_CO_TRYV(co_await mark(*twin, is_lifted));
  }
  for (kube::Object& copy : lifted) {
    KUBE_CO_TRYV(co_await remove(std::move(copy)));
  }
  if (!lifted.empty() && !contested.empty() && held.late.empty())
    report_lifted(*twin, held.node, "several of them select pod " + *contested.begin());
  else if (!lifted.empty())
    report_lifted(*twin, held.node, "it has been cordoned for more than " + std::to_string(max_block->count()) + " s");
  if (held.due) co_return Outcome::again_after(std::max<kube::Duration>(*held.due - now, 1s));
  co_return Outcome::done();
}

asio::awaitable<kube::Result<void>> BudgetHolds::remove(kube::Object copy) {
  KUBE_CO_TRYV(co_await kube::remove_object(
      context_.home.api(), disruption_budgets, copy.key(),
      {.options = {.uid = std::string(copy.uid())}, .phase = "removing PodDisruptionBudget " + copy.key().text()}));
  log_.info("removed a consumer's budget", {{"budget", copy.key()}});
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> BudgetHolds::mark(kube::Object twin, bool is_lifted) {
  json::object annotations;
  annotations[api::annotations::budgets_lifted] =
      is_lifted ? json::value(kube::format_time(context_.clock.wall())) : json::value(nullptr);
  // The UID as precondition: a successor of the same name is another twin.
  const json::object patch{{"metadata", json::object{{"uid", twin.uid()}, {"annotations", std::move(annotations)}}}};
  KUBE_CO_TRYV(co_await kube::merge_patch(
      context_.home.api(), *namespaces_, twin.key(),
      {.body = json::serialize(patch), .phase = "marking the twin whose budgets held a drain for too long"}));
  co_return kube::Result<void>();
}

void BudgetHolds::report_lifted(const kube::Object& twin, const std::string& node, const std::string& why) {
  const std::string text = "PodDisruptionBudgets of " + std::string(core::consumer_of_twin(twin)) + " in namespace " +
                           std::string(twin.name()) + " hold the drain of node " + node + " no longer, because " + why +
                           "; they come back once none of its pods is on a cordoned node";
  context_.events.warning(twin, kube::resources::namespaces, api::reasons::budgets_lifted, text);
  for (const kube::InformerHandle* nodes : {&machines_, &virtual_nodes_})
    if (const auto found = (*nodes)->find({"", node}))
      context_.events.warning(*found, kube::resources::nodes, api::reasons::budgets_lifted, text);
}

}  // namespace liqo::controllers
