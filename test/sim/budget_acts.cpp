// The actions of people, and the failures, in the simulation of evictions.
#include <algorithm>

#include "budget_world.hpp"
#include "faults.hpp"
#include "kube/k8s/request.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using kube::ObjectKey;
using kube::testing::FakeChange;
using kube::testing::SimLink;
using std::chrono::milliseconds;
namespace resources = kube::resources;

namespace {

constexpr std::string_view person = "user";
const ObjectKey budget_key{std::string(home_namespace), "quorum"};
/// So many nodes of a provider may be cordoned at once: evicted pods need another.
constexpr std::size_t max_cordoned = 2;
constexpr int max_replicas = 6;

}  // namespace

asio::awaitable<void> BudgetWorld::live() {
  // The others end pods without asking a budget, or change what it is to keep.
  static constexpr std::pair<int, Act> acts[] = {
      {7, &BudgetWorld::drain_there},   {3, &BudgetWorld::evict_there},    {4, &BudgetWorld::evict_at_home},
      {2, &BudgetWorld::drain_at_home}, {3, &BudgetWorld::restart_daemon}, {5, &BudgetWorld::kill_at_next_step},
      {3, &BudgetWorld::break_link},    {1, &BudgetWorld::lose_provider},  {1, &BudgetWorld::restart_api_server},
      {2, &BudgetWorld::cut_watches},   {1, &BudgetWorld::compact},        {2, &BudgetWorld::delay_counts},
  };
  static constexpr std::pair<int, Act> others[] = {
      {3, &BudgetWorld::scale},        {3, &BudgetWorld::delete_pod},  {4, &BudgetWorld::change_budget},
      {2, &BudgetWorld::change_offer}, {2, &BudgetWorld::remove_copy},
  };
  kube::testing::VirtualClock& clock = simulator_.clock();
  // Most schedules begin when the pods run and the copies are there.
  co_await clock.sleep(milliseconds(random_.between(1000, 40'000)));
  const kube::TimePoint end = clock.now() + std::chrono::seconds(random_.between(60, 240));
  while (clock.now() < end) {
    co_await clock.sleep(milliseconds(random_.between(20, 6000)));
    if (!steady_ && random_.chance(0.2))
      (this->*draw_act(others, random_))();
    else
      (this->*draw_act(acts, random_))();
  }
  is_armed_ = false;
  co_await group_.join();
}

// ---- Evictions ---------------------------------------------------------------------------------------------------

bool BudgetWorld::evict(Cluster& cluster, const ObjectKey& pod) {
  const auto answer = cluster.server.handle(kube::request::create_subresource(resources::pods, pod, "eviction", "{}"),
                                            EvictionCheck::evictor);
  if (answer.status == 201) note("pod " + pod.name + " is evicted in " + cluster.id);
  return answer.status == 201 || answer.status == 404;
}

void BudgetWorld::drain_there() {
  Cluster& provider = any_provider();
  const std::set<std::string>& cordoned = states_[provider.id].cordoned;
  const std::string node = "worker-" + std::to_string(random_.between(1, 3));
  if (cordoned.size() >= max_cordoned || cordoned.contains(node)) return;
  group_.spawn(drain(&provider, node));
}

asio::awaitable<void> BudgetWorld::drain(Cluster* provider, std::string node) {
  kube::testing::VirtualClock& clock = simulator_.clock();
  cordon(*provider, node, true);
  const kube::TimePoint end = clock.now() + milliseconds(random_.between(5'000, 120'000));
  bool is_done = false;
  while (!is_done && clock.now() < end) {
    is_done = true;
    for (const Tree& pod : pods_on(*provider, node)) is_done = evict(*provider, key_of(*pod)) && is_done;
    co_await clock.sleep(milliseconds(random_.between(100, 4'000)));
  }
  // Some drains are given up, others are still going on in the end, and most nodes are open again after a while.
  if (random_.chance(0.3)) co_return;
  co_await clock.sleep(milliseconds(random_.between(0, 20'000)));
  cordon(*provider, node, false);
}

void BudgetWorld::evict_there() {
  Cluster& provider = any_provider();
  const Tree pod = draw_tree(random_, remote_pods(provider));
  if (pod && !is_deleting(*pod)) (void)evict(provider, key_of(*pod));
}

void BudgetWorld::evict_at_home() {
  const Tree pod = draw_tree(random_, home_.server.list(resources::pods, home_namespace));
  if (pod && !is_deleting(*pod)) (void)evict(home_, key_of(*pod));
}

void BudgetWorld::drain_at_home() {
  const Tree pod = draw_tree(random_, home_.server.list(resources::pods, home_namespace));
  const std::string node(pod ? kube::string_at(*pod, {"spec", "nodeName"}) : "");
  if (!node.empty()) group_.spawn(drain_local(node));
}

asio::awaitable<void> BudgetWorld::drain_local(std::string node) {
  kube::testing::VirtualClock& clock = simulator_.clock();
  note("node " + node + " is drained at home");
  const kube::TimePoint end = clock.now() + milliseconds(random_.between(1'000, 20'000));
  while (clock.now() < end) {
    for (const Tree& pod : home_.server.list(resources::pods, home_namespace))
      if (kube::string_at(*pod, {"spec", "nodeName"}) == node && !is_deleting(*pod)) (void)evict(home_, key_of(*pod));
    co_await clock.sleep(milliseconds(random_.between(500, 5'000)));
  }
}

// ---- Other actions -----------------------------------------------------------------------------------------------

void BudgetWorld::scale() {
  const int replicas = static_cast<int>(random_.between(1, max_replicas));
  note("web is scaled to " + std::to_string(replicas));
  replicas_->scale(replicas);
}

void BudgetWorld::delete_pod() {
  const Tree pod = draw_tree(random_, home_.server.list(resources::pods, home_namespace));
  if (!pod) return;
  note("pod " + std::string(name_of(*pod)) + " is deleted at home");
  kube::DeleteOptions options;
  if (random_.chance(0.3)) options.grace_period_seconds = 0;
  (void)home_.server.remove(resources::pods, key_of(*pod), options, person);
}

void BudgetWorld::change_budget() {
  const Tree budget = home_.server.get(api::kinds::disruption_budgets, budget_key);
  if (!budget) return make_budget();
  if (random_.chance(0.3)) {
    note("the budget is deleted");
    (void)home_.server.remove(api::kinds::disruption_budgets, budget_key, {}, person);
    return;
  }
  const bool is_skipped = random_.chance(0.3);
  const std::int64_t least = random_.between(0, replicas_->replicas());
  note("the budget keeps " + std::to_string(least) + " pods" + (is_skipped ? ", and is not copied" : ""));
  (void)home_.server.update(
      {api::kinds::disruption_budgets, budget_key},
      [&](json::object& next) {
        kube::testing::set_annotation(next, api::annotations::skip_reflection, is_skipped ? "true" : "false");
        kube::ensure_object(next, "spec")["minAvailable"] = least;
      },
      person);
}

void BudgetWorld::change_offer() {
  constexpr std::string_view lengths[] = {"1m", "3m", "10m"};
  Cluster& provider = any_provider();
  const bool is_withdrawn = !states_[provider.id].max_block.empty() && random_.chance(0.4);
  offer(provider, is_withdrawn ? "" : std::string(lengths[random_.between(0, 2)]));
}

void BudgetWorld::remove_copy() {
  Cluster& provider = any_provider();
  const Tree copy = draw_tree(random_, provider.server.list(api::kinds::disruption_budgets, twin_namespace(home_.id)));
  if (!copy) return;
  note("the copy of the budget is removed in " + provider.id);
  (void)provider.server.remove(api::kinds::disruption_budgets, key_of(*copy), {}, person);
}

// ---- Failures ----------------------------------------------------------------------------------------------------

void BudgetWorld::restart_daemon() {
  auto chosen = daemons_.begin();
  std::advance(chosen, random_.between(0, static_cast<std::int64_t>(daemons_.size()) - 1));
  group_.spawn(
      restart(chosen->first, random_.chance(0.6), milliseconds(random_.chance(0.5) ? 0 : random_.between(0, 30'000))));
}

asio::awaitable<void> BudgetWorld::restart(std::string name, bool killed, kube::Duration downtime) {
  ProcessBox& daemon = *daemons_.at(name);
  if (!daemon.is_running()) co_return;
  note((killed ? "kill liqod " : "stop liqod ") + name);
  co_await daemon.stop(killed);
  co_await simulator_.clock().sleep(downtime);
  note("start liqod " + name);
  daemon.start();
}

void BudgetWorld::kill_at_next_step() { is_armed_ = true; }

void BudgetWorld::see_step(const FakeChange& change) {
  if (!is_armed_ || is_over_ || change.kind->plural != api::kinds::disruption_budgets.plural ||
      !change.actor.starts_with("liqod-"))
    return;
  is_armed_ = false;
  // The answer may have arrived by then, and the next request may have been sent.
  const kube::Duration until = milliseconds(random_.between(0, random_.chance(0.5) ? 10 : 1000));
  const kube::Duration downtime = milliseconds(random_.chance(0.5) ? 0 : random_.between(0, 20'000));
  const std::string cluster = change.actor.substr(std::string_view("liqod-").size());
  simulator_.clock().call_in(until, [this, cluster, downtime] {
    if (is_over_) return;
    for (const auto& [name, daemon] : daemons_)
      if (daemon->cluster() == cluster && daemon->leads()) return group_.spawn(restart(name, true, downtime));
  });
}

void BudgetWorld::break_link() {
  const auto all = links();
  SimLink* link = all[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(all.size()) - 1))];
  note("partition of a link of " + link->actor());
  group_.spawn(outage({link}, false, milliseconds(random_.between(1'000, 60'000))));
}

void BudgetWorld::lose_provider() {
  const auto place = static_cast<std::size_t>(random_.between(1, static_cast<std::int64_t>(providers_.size())));
  note(providers_[place - 1]->id + " is lost");
  group_.spawn(outage(links_to(place), random_.chance(0.3), milliseconds(random_.between(60'000, 180'000))));
}

void BudgetWorld::restart_api_server() {
  const auto place = static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(providers_.size())));
  const std::string& restarted = place == 0 ? home_.id : providers_[place - 1]->id;
  std::vector<SimLink*> to_it = links_to(place);
  for (auto& [name, daemon] : daemons_)
    if (place > 0 && daemon->cluster() == restarted) to_it.push_back(daemon->links()[0]);
  note("the API server of " + restarted + " restarts");
  group_.spawn(outage(std::move(to_it), true, milliseconds(random_.between(0, 15'000))));
}

asio::awaitable<void> BudgetWorld::outage(std::vector<SimLink*> links, bool refuses, kube::Duration length) {
  for (SimLink* link : links) refuses ? link->refuse() : link->partition();
  co_await simulator_.clock().sleep(length);
  for (SimLink* link : links) link->heal();
}

void BudgetWorld::cut_watches() {
  note("all watches break");
  for (SimLink* link : links()) link->cut_watches();
}

void BudgetWorld::compact() {
  note("all servers compact");
  home_.server.store().compact(home_.server.store().version());
  for (const auto& provider : providers_) provider->server.store().compact(provider->server.store().version());
}

void BudgetWorld::delay_counts() {
  const auto place = static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(providers_.size())));
  note("budgets are counted late in " + (place == 0 ? home_.id : providers_[place - 1]->id));
  group_.spawn(count_late(place, milliseconds(random_.between(5'000, 60'000))));
}

asio::awaitable<void> BudgetWorld::count_late(std::size_t controller, kube::Duration length) {
  controllers_[controller]->set_delay(10s);
  co_await simulator_.clock().sleep(length);
  controllers_[controller]->set_delay(100ms);
}

}  // namespace liqo::sim
