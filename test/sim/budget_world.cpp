#include "budget_world.hpp"

#include <algorithm>

#include "core/offloading/disruption_budget.hpp"
#include "faults.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "replication.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using kube::ObjectKey;
using kube::testing::FakeChange;
using kube::testing::FakeDisruptionController;
using kube::testing::SimLink;
namespace resources = kube::resources;

namespace {

constexpr std::string_view person = "user";
const ObjectKey budget_key{std::string(home_namespace), "quorum"};
/// How long everything may take to settle after the last drain; copies come back five minutes after their drain. What
/// nobody wants any more goes sooner.
constexpr kube::Duration patience = 12min, patience_for_leftovers = 4min;
/// How long a drain may go on after `maxBlock`.
constexpr kube::Duration patience_for_drains = 4min;
/// How long the result is watched.
constexpr kube::Duration rest = 90s;

}  // namespace

BudgetWorld::BudgetWorld(std::uint64_t seed)
    : simulator_(seed),
      random_(seed * 2654435761u + 53),
      pairs_(random_.chance(0.3)),
      steady_(random_.chance(0.4)),
      home_(simulator_, "rome", simulator_.random().next()),
      group_(simulator_.executor(), kube::async::TaskGroup::OnFailure::keep_others) {
  std::map<std::string, kube::testing::FakeApiServer*> servers;
  controllers_.push_back(std::make_unique<FakeDisruptionController>(simulator_, home_.server));
  for (const char* name : {"milan", "turin"}) {
    if (!providers_.empty() && random_.chance(0.5)) break;
    providers_.push_back(std::make_unique<Cluster>(simulator_, name, simulator_.random().next()));
    controllers_.push_back(std::make_unique<FakeDisruptionController>(simulator_, providers_.back()->server));
    servers[name] = &providers_.back()->server;
  }
  const auto add = [&](Cluster& cluster, const std::map<std::string, kube::testing::FakeApiServer*>& reached) {
    controllers::Settings settings;
    settings.cluster_id = cluster.id;
    settings.nodes.node_ip = "172.18.0.2";
    settings.nodes.kubelet_version = "v1.35.4";
    settings.offloading.enforce_resources = false;
    const auto make = [&](const std::string& identity) {
      return std::make_unique<ProcessBox>(simulator_, cluster.id, cluster.server, reached, settings, identity);
    };
    auto& first = daemons_[cluster.id] = make(pairs_ ? cluster.id + "-a" : "");
    if (!pairs_) return;
    auto& second = daemons_[cluster.id + "/b"] = make(cluster.id + "-b");
    first->set_rival(*second);
    second->set_rival(*first);
  };
  add(home_, servers);
  for (const auto& provider : providers_) add(*provider, {});
  check_ = std::make_unique<EvictionCheck>(home_, providers_, budget_key);
  const auto follow = [this](Cluster& cluster) {
    cluster.server.store().on_change([this](const FakeChange& change) { see_step(change); });
  };
  follow(home_);
  for (const auto& provider : providers_) follow(*provider);
}

void BudgetWorld::note(std::string what) {
  log_.push_back(time_text(simulator_.clock().now()) + " " + std::move(what));
}

std::vector<SimLink*> BudgetWorld::links() {
  std::vector<SimLink*> all;
  for (auto& [name, daemon] : daemons_)
    for (SimLink* link : daemon->links()) all.push_back(link);
  return all;
}

std::vector<SimLink*> BudgetWorld::links_to(std::size_t place) {
  std::vector<SimLink*> found;
  for (auto& [name, daemon] : daemons_)
    if (daemon->cluster() == home_.id) found.push_back(daemon->links()[place]);
  return found;
}

Cluster& BudgetWorld::any_provider() {
  return *providers_[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(providers_.size()) - 1))];
}

std::vector<Tree> BudgetWorld::remote_pods(Cluster& provider) const {
  return provider.server.list(resources::pods, twin_namespace(home_.id));
}

std::vector<Tree> BudgetWorld::pods_on(Cluster& provider, const std::string& node) const {
  std::vector<Tree> pods = remote_pods(provider);
  std::erase_if(pods, [&](const Tree& pod) {
    return kube::string_at(*pod, {"spec", "nodeName"}) != node || is_deleting(*pod) || is_final(phase_of(*pod));
  });
  return pods;
}

// ---- The clusters ------------------------------------------------------------------------------------------------

void BudgetWorld::add_workers(Cluster& cluster, int count) {
  for (int i = 1; i <= count; ++i) {
    const ObjectKey key{"", "worker-" + std::to_string(i)};
    (void)cluster.server.create(resources::nodes, {{"metadata", json::object{{"name", key.name}}}}, person);
    (void)cluster.server.update(
        {resources::nodes, key, "status"},
        [](json::object& next) {
          kube::ensure_object(next, "status")["conditions"] =
              json::array{json::object{{"type", "Ready"}, {"status", "True"}}};
        },
        person);
  }
}

void BudgetWorld::make_budget() {
  // Sometimes nothing may ever be evicted.
  const std::int64_t pods = replicas_ ? replicas_->replicas() : 1;
  const std::int64_t least = std::max<std::int64_t>(pods - random_.between(random_.chance(0.15) ? 0 : 1, 2), 1);
  json::object budget{{"metadata", json::object{{"name", budget_key.name}, {"namespace", budget_key.ns}}}};
  budget["spec"] =
      json::object{{"minAvailable", least}, {"selector", json::object{{"matchLabels", json::object{{"app", "shop"}}}}}};
  note("the budget keeps " + std::to_string(least) + " of " + std::to_string(pods) + " pods");
  (void)home_.server.create(api::kinds::disruption_budgets, std::move(budget), person);
}

void BudgetWorld::offer(Cluster& provider, std::string max_block) {
  Provider& state = states_[provider.id];
  state.was_withdrawn = state.was_withdrawn || max_block.empty();
  note(provider.id + (max_block.empty() ? " lets no budgets hold" : " lets budgets hold for " + max_block));
  const std::string policy = max_block.empty() ? "{}" : R"({"disruptionBudgets":{"maxBlock":")" + max_block + R"("}})";
  (void)provider.server.update(
      {resources::namespaces, {"", tenant_namespace(home_.id)}},
      [&](json::object& next) { kube::testing::set_annotation(next, api::annotations::pod_policy, policy); }, person);
  state.max_block = std::move(max_block);
}

void BudgetWorld::cordon(Cluster& provider, const std::string& node, bool is_cordoned) {
  note("node " + node + " of " + provider.id + (is_cordoned ? " is cordoned" : " is open again"));
  std::set<std::string>& cordoned = states_[provider.id].cordoned;
  if (is_cordoned)
    cordoned.insert(node);
  else
    cordoned.erase(node);
  (void)provider.server.update(
      {resources::nodes, {"", node}},
      [&](json::object& next) {
        json::object& spec = kube::ensure_object(next, "spec");
        spec.erase("taints");
        spec["unschedulable"] = is_cordoned;
        if (is_cordoned)
          spec["taints"] = json::array{json::object{{"key", "node.kubernetes.io/unschedulable"},
                                                    {"effect", "NoSchedule"},
                                                    {"timeAdded", kube::format_time(simulator_.clock().wall())}}};
      },
      person);
}

void BudgetWorld::set_up() {
  const std::string ns(home_namespace);
  const auto make = [&](const kube::Resource& kind, std::string_view name, json::object object) {
    object["metadata"] = json::object{{"name", name}, {"namespace", ns}};
    (void)home_.server.create(kind, std::move(object), person);
  };
  (void)home_.server.create(resources::namespaces, {{"metadata", json::object{{"name", ns}}}}, person);
  make(resources::service_accounts, "default", {});
  make(resources::config_maps, "kube-root-ca.crt", {{"data", json::object{{"ca.crt", "rome"}}}});
  add_workers(home_, 1);
  for (const auto& provider : providers_) {
    home_.add_offloading(provider->id);
    home_.add_virtual_node(provider->id, provider->id);
    add_workers(*provider, 3);
    add_tenant_namespace(*provider, home_.id);
    constexpr std::string_view lengths[] = {"1m", "3m", "10m"};
    offer(*provider, std::string(lengths[random_.between(0, 2)]));
    add_twin(*provider, home_.id);
    // A twin says so from the beginning: home asks a provider that does not once an hour only.
    (void)provider->server.update(
        {resources::namespaces, {"", twin_namespace(home_.id)}},
        [](json::object& next) { kube::testing::set_annotation(next, api::annotations::holds_budgets, "true"); },
        person);
  }
  if (random_.chance(0.3)) home_.add_virtual_node("milan", "milan.1");
  const kube::testing::FaultRates faults = draw_faults(random_, 1s);
  for (SimLink* link : links()) link->set_faults(faults);
  for (auto& [name, daemon] : daemons_) daemon->start();
  replicas_ = std::make_unique<kube::testing::FakeReplicaSet>(simulator_, home_.server, workload_pod("web", "Always"),
                                                              static_cast<int>(random_.between(2, 6)));
  make_budget();
}

// ---- Checks ------------------------------------------------------------------------------------------------------

void BudgetWorld::calm_down() {
  is_over_ = true;
  for (SimLink* link : links()) {
    link->set_faults({});
    link->heal();
  }
  for (const auto& controller : controllers_) controller->set_delay(100ms);
  note("everything heals");
}

void BudgetWorld::check_drains() {
  kube::Duration longest{};
  for (const auto& [id, state] : states_)
    if (!state.cordoned.empty())
      longest = std::max<kube::Duration>(longest, state.max_block == "10m"  ? 10min
                                                  : state.max_block == "3m" ? 3min
                                                                            : 1min);
  if (longest == kube::Duration::zero()) return;
  std::size_t left = 0;
  for (const kube::TimePoint end = simulator_.clock().now() + longest + patience_for_drains;
       simulator_.clock().now() < end;) {
    left = 0;
    for (const auto& provider : providers_)
      for (const std::string& node : states_[provider->id].cordoned)
        for (const Tree& pod : pods_on(*provider, node)) left += !evict(*provider, key_of(*pod));
    simulator_.run_for(3s);
    if (left == 0) break;
  }
  if (left > 0)
    violations_.push_back({"no budget holds a drain for longer than its provider says",
                           std::to_string(left) + " pods are left on cordoned nodes"});
  for (const auto& provider : providers_)
    for (const std::string& node : std::set<std::string>(states_[provider->id].cordoned))
      cordon(*provider, node, false);
}

bool BudgetWorld::is_budget_copied() {
  const Tree budget = home_.server.get(api::kinds::disruption_budgets, budget_key);
  return budget && core::is_copied(kube::Object(*budget));
}

std::string BudgetWorld::compare_pods() {
  int active = 0;
  for (const Tree& local : home_.server.list(resources::pods, home_namespace)) {
    const std::string name(name_of(*local));
    if (is_deleting(*local)) return "pod " + name + " is still being deleted";
    if (!is_ready(*local)) return "pod " + name + " is not ready at home";
    ++active;
    const std::string node(kube::string_at(*local, {"spec", "nodeName"}));
    if (node.starts_with("worker-")) continue;
    for (const auto& provider : providers_) {
      if (provider->id != provider_of(node)) continue;
      const Tree real = provider->server.get(resources::pods, {twin_namespace(home_.id), name});
      if (!real || local_uid_of(*real) != uid_of(*local) || !is_ready(*real) || is_deleting(*real))
        return "pod " + name + " does not run in " + provider->id;
    }
  }
  if (active != replicas_->replicas())
    return std::to_string(active) + " pods run, wanted are " + std::to_string(replicas_->replicas());
  return "";
}

std::string BudgetWorld::compare_copies(Cluster& provider) {
  const Provider& state = states_[provider.id];
  const std::string where = " in " + provider.id;
  const bool is_wanted = is_budget_copied() && !state.max_block.empty();
  std::int64_t pods = 0;
  for (const Tree& local : home_.server.list(resources::pods, home_namespace))
    pods += provider_of(kube::string_at(*local, {"spec", "nodeName"})) == provider.id;
  const auto copies = provider.server.list(api::kinds::disruption_budgets, twin_namespace(home_.id));
  for (const Tree& copy : copies) {
    if (!is_wanted || name_of(*copy) != budget_key.name)
      return "leftover: the copy " + std::string(name_of(*copy)) + " outlives its budget or its offer" + where;
    if (!kube::string_at(*copy, {"metadata", "annotations", api::annotations::evictions_wanted}).empty())
      return "the copy asks for evictions" + where;
    if (kube::int_at(*copy, {"spec", "minAvailable"}) != pods) return "the copy does not keep all pods" + where;
  }
  const Tree twin = provider.server.get(resources::namespaces, {"", twin_namespace(home_.id)});
  if (!kube::string_at(*twin, {"metadata", "annotations", api::annotations::budgets_lifted}).empty())
    return "budgets are lifted" + where;
  // Home asks once an hour whether the offer has come back.
  if (copies.empty() && is_wanted && pods > 0 && !state.was_withdrawn) return "the budget has no copy" + where;
  return "";
}

std::string BudgetWorld::find_difference() {
  std::map<std::string, int> leading;
  for (auto& [name, daemon] : daemons_) {
    if (!daemon->is_running()) return name + " is not running";
    leading[daemon->cluster()] += daemon->leads();
    if (daemon->leads() && !daemon->process()->has_synced()) return name + " has incomplete caches";
  }
  for (const auto& [cluster, leaders] : leading)
    if (leaders != 1) return std::to_string(leaders) + " processes lead in " + cluster;
  for (const auto& provider : providers_)
    if (auto difference = compare_copies(*provider); difference.starts_with("leftover")) return difference;
  if (auto difference = compare_pods(); !difference.empty()) return difference;
  for (const auto& provider : providers_)
    if (auto difference = compare_copies(*provider); !difference.empty()) return difference;
  const Tree budget = home_.server.get(api::kinds::disruption_budgets, budget_key);
  if (budget && !kube::object_at(*budget, {"status", "disruptedPods"}).empty())
    return "evictions are lent that nobody wants: " +
           json::serialize(kube::object_at(*budget, {"status", "disruptedPods"}));
  return "";
}

std::vector<std::string> BudgetWorld::list_writes(kube::TimePoint after) {
  std::vector<std::string> writes;
  const auto take = [&](Cluster& cluster) {
    for (const kube::testing::FakeWrite& write : cluster.server.writes())
      if (write.at > after && write.actor.starts_with("liqod-") && write.plural != "leases" &&
          write.plural != "nodes" && write.plural != "events")
        writes.push_back(write.method + " " + write.plural + " " + write.key.text() + " " + write.subresource + " by " +
                         write.actor + " in " + cluster.id + ": " + std::to_string(write.code));
  };
  take(home_);
  for (const auto& provider : providers_) take(*provider);
  return writes;
}

void BudgetWorld::check_end() {
  std::string difference;
  for (kube::Duration waited{}; waited < patience; waited += 5s) {
    simulator_.run_for(5s);
    difference = find_difference();
    if (difference.empty()) break;
    if (difference.starts_with("leftover") && waited >= patience_for_leftovers) break;
  }
  for (auto& [name, daemon] : daemons_)
    if (!daemon->crash().empty()) violations_.push_back({"liqod never ends by itself", name + " " + daemon->crash()});
  if (!difference.empty()) return violations_.push_back({"everything converges", difference});
  // A look that was put off changes nothing, but may come a minute later.
  simulator_.run_for(1min);
  const kube::TimePoint settled = simulator_.clock().now();
  simulator_.run_for(rest);
  if (const auto writes = list_writes(settled); !writes.empty())
    violations_.push_back(
        {"what has converged is quiet", std::to_string(writes.size()) + " writes at rest, first " + writes[0]});
  if (difference = find_difference(); !difference.empty())
    violations_.push_back({"everything converges", "and stays: " + difference});
}

std::vector<Violation> BudgetWorld::run() {
  set_up();
  try {
    simulator_.run(live(), 2h);
  } catch (const std::exception& error) {
    violations_.push_back({"every process can be restarted", error.what()});
    return std::move(violations_);
  }
  calm_down();
  check_drains();
  check_end();
  note(check_->summary());
  for (Violation& violation : check_->violations()) violations_.push_back(std::move(violation));
  for (auto& [name, daemon] : daemons_)
    for (Violation& violation : daemon->check_requests()) violations_.push_back(std::move(violation));
  for (const std::string& name : stop_all(simulator_, daemons_))
    violations_.push_back({"every process can be stopped", name + " does not end"});
  return std::move(violations_);
}

}  // namespace liqo::sim
