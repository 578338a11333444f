#include "reflection_world.hpp"

#include <algorithm>

#include "core/common/meta.hpp"
#include "core/reflection/references.hpp"
#include "core/reflection/reflection_filters.hpp"
#include "endpoints_at_home.hpp"
#include "faults.hpp"
#include "kube/base/base64.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/reasons.hpp"
#include "replication.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using kube::Object;
using kube::ObjectKey;
using kube::testing::SimLink;
namespace resources = kube::resources;

namespace {

/// How long Liqo may take to correct everything after the last fault, and how long a copy without references stays:
/// five minutes from the last reference, or from when it was found. Addresses are shown anew after growing pauses, of
/// an hour at most, if an object at home was replaced again and again.
constexpr kube::Duration patience = 4min, patience_for_claims = 8min, patience_for_unreferred = 12min,
                         patience_for_addresses = 65min;
/// How long the result is watched; `long_rest` in some schedules.
constexpr kube::Duration rest = 2min, long_rest = 1h;

}  // namespace

ReflectionWorld::ReflectionWorld(std::uint64_t seed)
    : simulator_(seed),
      random_(seed * 2654435761u + 41),
      pairs_(random_.chance(0.3)),
      patient_(random_.chance(0.1)),
      home_(simulator_, "rome", simulator_.random().next()),
      group_(simulator_.executor(), kube::async::TaskGroup::OnFailure::keep_others),
      watchers_(simulator_.executor()) {
  std::map<std::string, kube::testing::FakeApiServer*> servers;
  for (const char* name : {"milan", "turin"}) {
    if (!providers_.empty() && random_.chance(0.5)) break;
    providers_.push_back(std::make_unique<Cluster>(simulator_, name, simulator_.random().next()));
    servers[name] = &providers_.back()->server;
  }
  volumes_.push_back(std::make_unique<FakeVolumes>(simulator_, home_, simulator_.random().next()));
  for (const auto& provider : providers_)
    volumes_.push_back(std::make_unique<FakeVolumes>(simulator_, *provider, simulator_.random().next()));
  controllers::Settings settings;
  settings.cluster_id = home_.id;
  settings.nodes.node_ip = "172.18.0.2";
  settings.nodes.kubelet_version = "v1.35.4";
  settings.reflection.custom_resources = {widget_resource()};
  settings.offloading.api_server_host = "10.0.0.1";
  settings.storage.storage_class = "liqo";
  settings.slices.storage_class = "local";
  const auto add = [&](const std::string& name) -> ProcessBox& {
    daemons_[name] =
        std::make_unique<ProcessBox>(simulator_, home_.id, home_.server, servers, settings, pairs_ ? name : "");
    return *daemons_[name];
  };
  // In most schedules a liqod of each provider carries out what the consumer asks for.
  for (const auto& provider : providers_) {
    if (random_.chance(0.3)) continue;
    controllers::Settings theirs;
    theirs.cluster_id = provider->id;
    theirs.offloading.enforce_resources = false;
    daemons_[provider->id] = std::make_unique<ProcessBox>(
        simulator_, provider->id, provider->server, std::map<std::string, kube::testing::FakeApiServer*>(), theirs);
  }
  ProcessBox& first = add("rome-a");
  if (!pairs_) return;
  ProcessBox& second = add("rome-b");
  first.set_rival(second);
  second.set_rival(first);
}

void ReflectionWorld::note(std::string what) {
  log_.push_back(time_text(simulator_.clock().now()) + " " + std::move(what));
}

std::vector<SimLink*> ReflectionWorld::links() {
  std::vector<SimLink*> all;
  for (auto& [name, daemon] : daemons_)
    for (SimLink* link : daemon->links()) all.push_back(link);
  return all;
}

void ReflectionWorld::set_up() {
  home_.server.serve(widgets().resource);
  for (const auto& provider : providers_) provider->server.serve(widgets().resource);
  // One of two providers may never have the definition, and each may get it late.
  if (providers_.size() > 1 && random_.chance(0.2)) {
    Cluster& lacking = any_provider();
    note(lacking.id + " has no definition of widgets");
    lacking.server.store().withdraw(widgets().resource, reflection_stranger);
  }
  for (const auto& provider : providers_)
    if (random_.chance(0.1)) undefine(*provider);
  (void)home_.server.create(resources::namespaces, {{"metadata", json::object{{"name", home_namespace}}}}, "operator");
  add_account();
  add_storage_class();
  (void)home_.server.create(resources::nodes, {{"metadata", json::object{{"name", "worker-1"}}}}, reflection_user);
  const auto add_root_ca = [](Cluster& cluster, std::string_view ns) {
    (void)cluster.server.create(resources::config_maps,
                                {{"metadata", json::object{{"name", api::root_ca_name}, {"namespace", ns}}},
                                 {"data", json::object{{"ca.crt", cluster.id}}}},
                                reflection_stranger);
  };
  add_root_ca(home_, home_namespace);
  for (const auto& provider : providers_) {
    home_.add_offloading(provider->id);
    add_virtual_node(provider->id, provider->id);
    add_tenant_namespace(*provider, home_.id);
    add_consumer(*provider);
    add_twin(*provider, home_.id);
    add_root_ca(*provider, twin_namespace(home_.id));
  }
  add_virtual_node("milan", "milan-2");
  for (const DrawnKind& drawn : drawn_kinds())
    for (int i = 0; i < drawn.objects; i += 2)
      (void)home_.server.create(kind_of(drawn).resource, draw(drawn.name, std::string(drawn.stem) + std::to_string(i)),
                                reflection_user);
  const kube::testing::FaultRates faults = draw_faults(random_, 1s);
  for (SimLink* link : links()) link->set_faults(faults);
  times_.starts.push_back(simulator_.clock().now());
  for (auto& [name, daemon] : daemons_) daemon->start();
  if (pairs_) watchers_.spawn(watch_leaders());
}

asio::awaitable<void> ReflectionWorld::watch_leaders() {
  std::set<std::string> leading;
  while (true) {
    for (const auto& [name, daemon] : daemons_) {
      if (daemon->cluster() != home_.id) continue;
      if (!daemon->leads())
        leading.erase(name);
      else if (leading.insert(name).second)
        times_.leaders.push_back(simulator_.clock().now());
    }
    co_await simulator_.clock().sleep(100ms);
  }
}

void ReflectionWorld::calm_down() {
  for (SimLink* link : links()) {
    link->set_faults({});
    link->heal();
  }
  for (const auto& provider : providers_)
    for (const Tree& copy : provider->server.list(widgets().resource, twin_namespace(home_.id)))
      if (random_.chance(0.3)) report(*provider, *copy);
  // Liqo does not look for strangers' imitations of copies in a twin without copies, so they are removed.
  for (const auto& provider : providers_)
    for (const DrawnKind& drawn : drawn_kinds()) remove_forged(*provider, kind_of(drawn));
  note("everything heals");
}

void ReflectionWorld::remove_forged(Cluster& provider, const core::reflection::ReflectedKind& kind) {
  std::set<std::string_view> written;
  for (const kube::testing::FakeChange& change : provider.server.store().table(kind.copies()).log)
    if (change.actor.starts_with("liqod-")) written.insert(uid_of(*change.after));
  for (const Tree& object : provider.server.list(kind.copies(), twin_namespace(home_.id)))
    if (!kube::string_at(*object, {"metadata", "labels", api::labels::reflection_origin}).empty() &&
        !written.contains(uid_of(*object)))
      (void)provider.server.remove(kind.copies(), {twin_namespace(home_.id), std::string(name_of(*object))}, {},
                                   reflection_stranger);
}

// ---- Checks ------------------------------------------------------------------------------------------------------

std::set<std::string> ReflectionWorld::find_referred(const Cluster& provider, bool by_pods_alone) {
  std::set<std::string> nodes, referred;
  for (const Tree& node : home_.server.list(api::kinds::virtual_nodes))
    if (kube::string_at(*node, {"spec", "clusterID"}) == provider.id) nodes.emplace(name_of(*node));
  for (const Tree& pod : home_.server.list(resources::pods, home_namespace))
    if (nodes.contains(std::string(kube::string_at(*pod, {"spec", "nodeName"}))))
      for (std::string& name : core::reflection::secrets_of_pod(Object(*pod))) referred.insert(std::move(name));
  if (by_pods_alone) return referred;
  for (const Tree& tree : home_.server.list(api::kinds::ingresses, home_namespace))
    if (const Object ingress(*tree);
        !core::reflection::wanted_copy({.kind = *core::reflection::find_reflected_kind("Ingress"),
                                        .policy = core::reflection::SelectionPolicy::deny_list,
                                        .ctx = {}},
                                       ingress, ""))
      continue;
    else
      for (std::string& name : core::reflection::secrets_of_ingress(ingress)) referred.insert(std::move(name));
  return referred;
}

std::string ReflectionWorld::compare_copies(Cluster& provider, const core::reflection::ReflectedKind& kind) {
  if (!provider.server.serves(kind.copies())) return "";
  const std::string twin = twin_namespace(home_.id), where = " in " + provider.id;
  std::vector<Object> nodes;
  for (const Tree& node : home_.server.list(api::kinds::virtual_nodes)) nodes.emplace_back(*node);
  const Object* oldest = core::reflection::filters_decided_by(nodes, provider.id);
  if (!oldest) return "no virtual node of " + provider.id + " is there";
  core::ForgingContext forging;
  forging.clusters = {.local = home_.id, .remote = provider.id};
  const core::reflection::ReflectionFilters filters =
      core::reflection::filters_of(*oldest, nullptr, controllers::Settings().reflection.not_reflected);
  forging.patch.labels_not_reflected = filters.labels;
  forging.patch.annotations_not_reflected = filters.annotations;
  const EndpointsAtHome endpoints(home_);
  forging.endpoints = &endpoints;
  std::set<std::string> referred, named;
  if (kind.referred_only) {
    referred = find_referred(provider);
    named = find_referred(provider, true);
  }

  std::set<std::string> wanted_names;
  for (const Tree& tree : home_.server.list(kind.resource, home_namespace)) {
    const Object local(*tree);
    if (kind.referred_only && !referred.contains(std::string(local.name())) && !core::reflection::is_allowed(local))
      continue;
    const auto wanted = core::reflection::wanted_copy({.kind = kind,
                                                       .policy = core::reflection::SelectionPolicy::deny_list,
                                                       .ctx = forging,
                                                       .named_by_pod = named.contains(std::string(local.name()))},
                                                      local, twin);
    if (!wanted) continue;
    wanted_names.emplace(wanted->name());
    const std::string title = std::string(kind.name) + " " + std::string(wanted->name());
    const Tree there = provider.server.get(kind.copies(), {twin, std::string(wanted->name())});
    if (!there) return title + " has no copy" + where;
    const Object copy(*there);
    if (!core::is_reflected(copy, forging.clusters) || !kind.no_copy(copy, forging).empty()) continue;
    if (is_deleting(*there)) return title + " is being deleted" + where;
    const auto agrees = [](const json::object& have, const json::object& want) {
      return std::ranges::all_of(want, [&](const auto& entry) {
        const json::value* value = have.if_contains(entry.key());
        return value && *value == entry.value();
      });
    };
    if (kind.compare(copy, *wanted) != core::reflection::Comparison::same ||
        (kind.surplus && !kind.surplus(copy, *wanted).empty()))
      return title + " differs" + where + ": " + copy.text() + ", wanted " + wanted->text();
    if (!agrees(copy.labels(), wanted->labels()) || !agrees(copy.annotations(), wanted->annotations()))
      return title + " has other labels or annotations" + where + ": " + copy.text() + ", wanted " + wanted->text();
  }
  for (const Tree& there : provider.server.list(kind.copies(), twin)) {
    const Object copy(*there);
    if (core::is_reflected(copy, forging.clusters) && kind.no_copy(copy, forging).empty() &&
        !wanted_names.contains(std::string(copy.name())))
      return std::string(kind.name) + " " + std::string(copy.name()) + " is left over" + where;
  }
  return "";
}

std::string ReflectionWorld::find_difference() {
  int leaders = 0;
  for (auto& [name, daemon] : daemons_) {
    if (!daemon->is_running()) return name + " is not running";
    leaders += daemon->cluster() == home_.id && daemon->leads();
    if (daemon->leads() && !daemon->process()->has_synced()) return name + " has incomplete caches";
  }
  if (leaders != 1) return std::to_string(leaders) + " processes lead";
  for (const Tree& node : home_.server.list(api::kinds::virtual_nodes))
    if (is_deleting(*node)) return "VirtualNode " + std::string(name_of(*node)) + " is still being deleted";
  for (const Tree& pod : home_.server.list(resources::pods, home_namespace))
    if (is_deleting(*pod)) return "pod " + std::string(name_of(*pod)) + " is still being deleted";
  for (const auto& provider : providers_)
    for (const DrawnKind& drawn : drawn_kinds())
      if (auto difference = compare_copies(*provider, kind_of(drawn)); !difference.empty()) return difference;
  for (const auto& provider : providers_)
    for (auto difference :
         {compare_tokens(*provider), daemons_.contains(provider->id) ? compare_endpoints(*provider) : std::string()})
      if (!difference.empty()) return difference;
  for (auto difference : {compare_claims(), compare_statuses(), compare_addresses()})
    if (!difference.empty()) return difference;
  return "";
}

std::vector<std::string> ReflectionWorld::list_writes(kube::TimePoint after) {
  std::vector<std::string> writes;
  const auto take = [&](Cluster& cluster) {
    for (const kube::testing::FakeChange& change : cluster.server.store().table(resources::events).log) {
      // Liqo may notice lost data only after five minutes, and waits for an address for two.
      const std::string_view reason = kube::string_at(*change.after, {"reason"});
      if (change.at > after && change.type == kube::testing::ChangeType::added && reason != api::reasons::volume_lost &&
          reason != api::reasons::no_remote_address)
        writes.push_back("Event about " + std::string(kube::string_at(*change.after, {"involvedObject", "name"})) +
                         ": " + std::string(kube::string_at(*change.after, {"message"})));
    }
    for (const kube::testing::FakeWrite& write : cluster.server.writes())
      // A repeated Event only raises the count of the existing one.
      if (write.at > after && write.plural != "leases" && write.plural != "nodes" && write.plural != "events")
        writes.push_back(write.method + " " + write.plural + " " + write.key.text() + " by " + write.actor + " in " +
                         cluster.id + ": " + std::to_string(write.code));
  };
  take(home_);
  for (const auto& provider : providers_) take(*provider);
  return writes;
}

void ReflectionWorld::check_end() {
  const kube::TimePoint healed = simulator_.clock().now();
  std::string difference;
  // Only a Secret without references may take longer, a claim, which liqod looks at in its provider every five minutes,
  // and addresses.
  const auto limit = [&] {
    if (difference.starts_with("PersistentVolumeClaim ")) return patience_for_claims;
    if (difference.starts_with("addresses ")) return patience_for_addresses;
    return difference.starts_with("Secret ") && difference.find(" is left over") != std::string::npos
               ? patience_for_unreferred
               : patience;
  };
  do {
    simulator_.run_for(5s);
    difference = find_difference();
    // An object that this check does not cover may wait for a watch that is retried once a minute, and a Secret without
    // references may go a moment later.
    if (!difference.empty()) continue;
    simulator_.run_for(2min);
    difference = find_difference();
  } while (!difference.empty() && simulator_.clock().now() - healed < limit());
  for (auto& [name, daemon] : daemons_)
    if (!daemon->crash().empty()) violations_.push_back({"liqod never ends by itself", name + " " + daemon->crash()});
  if (!difference.empty()) return violations_.push_back({"everything converges", difference});
  const kube::TimePoint settled = simulator_.clock().now();
  simulator_.run_for(random_.chance(0.05) ? long_rest : rest);
  if (const auto writes = list_writes(settled); !writes.empty())
    violations_.push_back(
        {"what has converged is quiet", std::to_string(writes.size()) + " writes at rest, first " + writes[0]});
  if (difference = find_difference(); !difference.empty())
    return violations_.push_back({"everything converges", "and stays: " + difference});
  check_events();
}

std::vector<Violation> ReflectionWorld::run() {
  set_up();
  try {
    simulator_.run(live(), 2h);
  } catch (const std::exception& error) {
    violations_.push_back({"every process can be restarted", error.what()});
    return std::move(violations_);
  }
  calm_down();
  check_end();
  simulator_.run(watchers_.stop());
  for (const auto& provider : providers_) {
    check_reflection_history(home_, *provider, times_.ends, violations_);
    check_endpoint_history(home_, *provider, times_.theirs, violations_);
  }
  check_claim_history(home_, providers_, violations_);
  check_status_history(home_, defining(), times_, violations_);
  for (auto& [name, daemon] : daemons_)
    for (Violation& violation : daemon->check_requests()) violations_.push_back(std::move(violation));
  for (const std::string& name : stop_all(simulator_, daemons_))
    violations_.push_back({"every process can be stopped", name + " does not end"});
  return std::move(violations_);
}

}  // namespace liqo::sim
