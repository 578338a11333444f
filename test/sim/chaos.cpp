#include "chaos.hpp"

#include "core/peering/replication.hpp"
#include "faults.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using kube::DeleteOptions;
using kube::ObjectKey;
using kube::testing::FakeKubelet;
using kube::testing::SimLink;
namespace resources = kube::resources;

namespace {

constexpr std::string_view actor = "chaos";

bool has_started(const json::object& pod) { return !kube::array_at(pod, {"status", "containerStatuses"}).empty(); }

}  // namespace

Chaos::Chaos(World& world)
    : world_(world),
      random_(world.simulator.random().next()),
      group_(world.simulator.executor(), kube::async::TaskGroup::OnFailure::keep_others) {}

void Chaos::note(std::string what) {
  log_.push_back(time_text(world_.simulator.clock().now()) + " " + std::move(what));
}

asio::awaitable<void> Chaos::run() {
  kube::testing::VirtualClock& clock = world_.simulator.clock();
  const kube::TimePoint end = clock.now() + world_.difficulty.duration;
  while (world_.difficulty.actions_per_second > 0 && clock.now() < end) {
    const double pause = -std::log(1.0 - random_.unit()) / world_.difficulty.actions_per_second;
    co_await clock.sleep(std::min<kube::Duration>(kube::Duration(static_cast<std::int64_t>(pause * 1e9)), 20s));
    act();
  }
  if (clock.now() < end) co_await clock.sleep_until(end);
  co_await group_.join();
  world_.set_faults({});
  for (SimLink* link : world_.links()) link->heal();
  world_.healed_at = clock.now();
  note("everything heals");
}

void Chaos::act() {
  static constexpr std::pair<int, Act> acts[] = {
      {6, &Chaos::restart_daemon},
      {4, &Chaos::break_link},
      {2, &Chaos::restart_api_server},
      {2, &Chaos::cut_watches},
      {2, &Chaos::compact},
      {4, &Chaos::delete_remote_pod},
      {3, &Chaos::delete_unwatched},
      {1, &Chaos::evict_remote_pod},
      {2, &Chaos::end_containers},
      {3, &Chaos::delete_shadow_pod},
      {4, &Chaos::delete_local_pod},
      {3, &Chaos::replace_local_pod},
      {5, &Chaos::create_job},
      {3, &Chaos::suspend_job},
      {2, &Chaos::scale},
      {2, &Chaos::edit_labels},
      {1, &Chaos::edit_image},
      {1, &Chaos::edit_config_map},
      {1, &Chaos::edit_offloading_patch},
      {4, &Chaos::edit_replicated},
      {2, &Chaos::edit_replica},
      {2, &Chaos::delete_replica},
      {3, &Chaos::delete_slice},
      {3, &Chaos::create_slice},
      {1, &Chaos::rotate_credentials},
  };
  (this->*draw_act(acts, random_))();
}

Cluster& Chaos::any_provider() {
  auto at = world_.providers.begin();
  std::advance(at, random_.between(0, static_cast<std::int64_t>(world_.providers.size()) - 1));
  return *at->second;
}

std::vector<Tree> Chaos::local_pods() { return world_.home.server.list(resources::pods, home_namespace); }

std::vector<Tree> Chaos::remote_pods(Cluster& provider) {
  return provider.server.list(resources::pods, twin_namespace(world_.home.id));
}

void Chaos::restart_daemon() {
  auto at = world_.daemons.begin();
  std::advance(at, random_.between(0, static_cast<std::int64_t>(world_.daemons.size()) - 1));
  if (!at->second->is_running()) return;
  const bool killed = random_.chance(0.6);
  const kube::Duration downtime(random_.chance(0.5) ? 0 : random_.between(0, kube::Duration(20s).count()));
  group_.spawn(restart(at->first, killed, downtime));
}

asio::awaitable<void> Chaos::restart(std::string cluster, bool killed, kube::Duration downtime) {
  ProcessBox& daemon = world_.daemon(cluster);
  if (!daemon.is_running()) co_return;
  note((killed ? "kill liqod of " : "stop liqod of ") + cluster);
  co_await daemon.stop(killed);
  co_await world_.simulator.clock().sleep(downtime);
  note("start liqod of " + cluster);
  daemon.start();
}

void Chaos::break_link() {
  const auto links = world_.links();
  SimLink* link = links[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(links.size()) - 1))];
  note("partition of a link of " + link->actor());
  group_.spawn(
      outage({link}, false, kube::Duration(random_.between(kube::Duration(1s).count(), kube::Duration(60s).count()))));
}

void Chaos::restart_api_server() {
  // All links to the API servers of one side: the first link of rome's daemon leads to its own server, its others to
  // the providers' servers.
  std::vector<SimLink*> links;
  const bool at_home = random_.chance(0.5);
  for (auto& [name, daemon] : world_.daemons)
    for (std::size_t i = 0; SimLink * link : daemon->links()) {
      const bool is_home_server = daemon->cluster() == world_.home.id && i++ == 0;
      if (is_home_server == at_home) links.push_back(link);
    }
  note(at_home ? "the API server at home restarts" : "the API servers of the providers restart");
  group_.spawn(outage(std::move(links), true, kube::Duration(random_.between(0, kube::Duration(15s).count()))));
}

asio::awaitable<void> Chaos::outage(std::vector<SimLink*> links, bool refuses, kube::Duration length) {
  for (SimLink* link : links) refuses ? link->refuse() : link->partition();
  co_await world_.simulator.clock().sleep(length);
  for (SimLink* link : links) link->heal();
}

void Chaos::cut_watches() {
  note("all watches break");
  for (SimLink* link : world_.links()) link->cut_watches();
}

void Chaos::compact() {
  note("all servers compact");
  world_.home.server.store().compact(world_.home.server.store().version());
  for (auto& [name, provider] : world_.providers) provider->server.store().compact(provider->server.store().version());
}

bool Chaos::is_on_record(Cluster& provider, const json::object& remote) {
  if (restarts_always(remote)) return true;
  const Tree shadow = provider.server.get(api::kinds::shadow_pods, key_of(remote));
  const std::string_view recorded = shadow ? phase_of(*shadow) : "";
  const Tree local =
      world_.home.server.get(resources::pods, {std::string(home_namespace), std::string(name_of(remote))});
  const bool at_home = !local || uid_of(*local) != local_uid_of(remote) || has_started(*local);
  return (recorded == "Running" || is_final(recorded)) && at_home;
}

void Chaos::delete_remote_pod() {
  Cluster& provider = any_provider();
  const Tree pod = draw_tree(random_, remote_pods(provider));
  if (!pod || is_deleting(*pod)) return;
  DeleteOptions options;
  if (random_.chance(0.3)) options.grace_period_seconds = 0;
  note("remote pod " + std::string(name_of(*pod)) + " is deleted in " + provider.id);
  ++world_.losses[std::string(local_uid_of(*pod))];
  (void)provider.server.remove(resources::pods, key_of(*pod), options, actor);
}

void Chaos::delete_unwatched() {
  const std::string& provider = any_provider().id;
  if (world_.daemon(provider).is_running()) group_.spawn(delete_while_down(provider));
}

asio::awaitable<void> Chaos::delete_while_down(std::string provider) {
  const auto some_time = [this](kube::Duration most) { return kube::Duration(random_.between(0, most.count())); };
  kube::testing::VirtualClock& clock = world_.simulator.clock();
  ProcessBox& daemon = world_.daemon(provider);
  note("kill liqod of " + provider + " before pods are deleted");
  co_await daemon.stop(true);
  co_await clock.sleep(some_time(3s));
  Cluster& cluster = world_.cluster(provider);
  for (const Tree& pod : remote_pods(cluster)) {
    if (restarts_always(*pod) || is_deleting(*pod) || random_.chance(0.3)) continue;
    DeleteOptions options;
    if (random_.chance(0.5)) options.grace_period_seconds = 0;
    note("remote pod " + std::string(name_of(*pod)) + " is deleted unwatched in " + provider);
    ++world_.losses[std::string(local_uid_of(*pod))];
    (void)cluster.server.remove(resources::pods, key_of(*pod), options, actor);
  }
  co_await clock.sleep(some_time(20s));
  note("start liqod of " + provider);
  daemon.start();
}

void Chaos::evict_remote_pod() {
  Cluster& provider = any_provider();
  const Tree pod = draw_tree(random_, remote_pods(provider));
  if (!pod || is_deleting(*pod) || !has_started(*pod)) return;
  note("remote pod " + std::string(name_of(*pod)) + " is evicted in " + provider.id);
  provider.kubelet.evict(key_of(*pod));
}

void Chaos::end_containers() {
  Cluster& provider = any_provider();
  const Tree pod = draw_tree(random_, remote_pods(provider));
  if (!pod || is_deleting(*pod)) return;
  note("containers of remote pod " + std::string(name_of(*pod)) + " end in " + provider.id);
  provider.kubelet.end_containers(key_of(*pod), random_.between(0, 1));
}

void Chaos::delete_shadow_pod() {
  Cluster& provider = any_provider();
  const Tree shadow = draw_tree(random_, provider.server.list(api::kinds::shadow_pods));
  if (!shadow || is_deleting(*shadow)) return;
  const Tree remote = provider.server.get(resources::pods, key_of(*shadow));
  const bool always = kube::string_at(*shadow, {"spec", "pod", "restartPolicy"}) == "Always";
  // Otherwise the pod could start unseen before the garbage collector removes it.
  if (!always && (!remote || !has_started(*remote) || !is_on_record(provider, *remote))) return;
  note("ShadowPod " + std::string(name_of(*shadow)) + " is deleted in " + provider.id);
  ++world_.losses[std::string(local_uid_of(*shadow))];
  (void)provider.server.remove(api::kinds::shadow_pods, key_of(*shadow), {}, actor);
}

void Chaos::delete_local_pod() {
  const Tree pod = draw_tree(random_, local_pods());
  if (!pod) return;
  DeleteOptions options;
  const bool force = random_.chance(0.3);
  if (force)
    options.grace_period_seconds = 0;
  else if (random_.chance(0.4))
    options.grace_period_seconds = random_.chance(0.5) ? 1 : 90;
  const std::string within =
      options.grace_period_seconds ? " within " + std::to_string(*options.grace_period_seconds) + " s" : "";
  note("local pod " + std::string(name_of(*pod)) + (force ? " is deleted by force" : " is deleted" + within));
  (void)world_.home.server.remove(resources::pods, key_of(*pod), options, actor);
}

void Chaos::replace_local_pod() {
  const ObjectKey key{std::string(home_namespace), "db-0"};
  note("local pod db-0 is replaced by another of its name");
  (void)world_.home.server.remove(resources::pods, key, {.grace_period_seconds = 0}, actor);
  json::object pod = workload_pod("db-0", "Always");
  if (random_.chance(0.5)) pod["metadata"].as_object()["annotations"].as_object()[pinned_to] = any_provider().id;
  (void)world_.home.server.create(resources::pods, std::move(pod), actor);
}

void Chaos::create_job() {
  json::object job = workload_pod("job-" + std::to_string(next_job_++), random_.chance(0.7) ? "Never" : "OnFailure");
  json::object& annotations = job["metadata"].as_object()["annotations"].as_object();
  annotations[FakeKubelet::run_seconds] = std::to_string(random_.between(0, 40));
  annotations[FakeKubelet::exit_code] = std::to_string(random_.chance(0.3) ? 1 : 0);
  if (random_.chance(0.5)) {
    const auto policy = static_cast<JobPolicy>(random_.between(0, 2));
    note("Job " + std::string(name_of(job)) + " is created with policy " + std::to_string(static_cast<int>(policy)));
    world_.jobs.create(std::move(job), policy);
    return;
  }
  if (random_.chance(0.5)) track(job);
  note("job " + std::string(name_of(job)) + " is created" + (is_tracked(job) ? ", tracked" : ""));
  (void)world_.home.server.create(resources::pods, std::move(job), actor);
}

void Chaos::suspend_job() {
  std::vector<std::string> going;
  for (const auto& [name, job] : world_.jobs.jobs())
    if (job.ended.empty()) going.push_back(name);
  if (going.empty()) return;
  const std::string& name =
      going[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(going.size()) - 1))];
  const bool suspended = world_.jobs.jobs().at(name).suspended;
  note("Job " + name + (suspended ? " is resumed" : " is suspended"));
  world_.jobs.set_suspended(name, !suspended);
}

void Chaos::scale() {
  const int replicas = static_cast<int>(random_.between(0, 6));
  note("web is scaled to " + std::to_string(replicas));
  world_.replicas->scale(replicas);
}

void Chaos::edit_labels() {
  const Tree pod = draw_tree(random_, local_pods());
  if (!pod) return;
  const std::string value = std::to_string(random_.between(1, 9));
  note("label edit=" + value + " on local pod " + std::string(name_of(*pod)));
  (void)world_.home.server.update(
      {resources::pods, key_of(*pod)},
      [&](json::object& next) {
        json::object& metadata = next["metadata"].as_object();
        kube::ensure_object(metadata, "labels")["edit"] = value;
        for (const char* key : {"sim.example.com/note", "liqo.io/sim-note"})
          kube::ensure_object(metadata, "annotations")[key] = value;
      },
      actor);
}

void Chaos::edit_image() {
  const Tree pod = draw_tree(random_, local_pods());
  if (!pod || is_final(phase_of(*pod))) return;
  const std::string image = "shop:" + std::to_string(random_.between(2, 9));
  note("image " + image + " on local pod " + std::string(name_of(*pod)));
  (void)world_.home.server.update(
      {resources::pods, key_of(*pod)},
      [&](json::object& next) { next["spec"].as_object()["containers"].as_array()[0].as_object()["image"] = image; },
      actor);
}

void Chaos::edit_config_map() {
  const std::string value = std::to_string(random_.between(0, 99));
  note("config map settings: answer=" + value);
  (void)world_.home.server.update(
      {resources::config_maps, {std::string(home_namespace), "settings"}},
      [&](json::object& next) { next["data"] = json::object{{"answer", value}}; }, actor);
}

void Chaos::edit_offloading_patch() {
  const std::string& provider = any_provider().id;
  note("the offloading patch of " + provider + " changes");
  (void)world_.home.server.update(
      {api::kinds::virtual_nodes, {tenant_namespace(provider), provider}},
      [&](json::object& next) {
        next["spec"].as_object()["offloadingPatch"] =
            json::object{{"nodeSelector", json::object{{"pool", std::to_string(random_.between(0, 9))}}}};
      },
      actor);
}

void Chaos::edit_replicated() {
  const auto kinds = core::replicated_kinds();
  const kube::Resource& kind = kinds[static_cast<std::size_t>(random_.between(0, 2))];
  const Tree object = draw_tree(random_, world_.home.server.list(kind, tenant_namespace(any_provider().id)));
  if (!object || is_deleting(*object)) return;
  const std::string value = std::to_string(random_.between(1, 99));
  const bool relabel = random_.chance(0.5);
  note((relabel ? "label edit and renewal=" : "cpu=") + value + " of " + std::string(kind.kind) + " " +
       std::string(name_of(*object)));
  (void)world_.home.server.update(
      {kind, key_of(*object)},
      [&](json::object& next) {
        json::object& label_map = kube::ensure_object(next["metadata"].as_object(), "labels");
        if (relabel)
          for (const char* label : {"edit", "renewal"}) label_map[label] = value;
        if (!relabel && kind == api::kinds::resource_slices)
          next["spec"].as_object()["resources"] = json::object{{random_.chance(0.5) ? "cpu" : "memory", value}};
      },
      actor);
}

void Chaos::edit_replica() {
  Cluster& provider = any_provider();
  const Tree replica = draw_tree(random_, provider.server.list(api::kinds::resource_slices));
  if (!replica || is_deleting(*replica)) return;
  note("replica " + std::string(name_of(*replica)) + " is damaged in " + provider.id);
  (void)provider.server.update(
      {api::kinds::resource_slices, key_of(*replica)},
      [&](json::object& next) {
        json::object& label_map = kube::ensure_object(next["metadata"].as_object(), "labels");
        label_map["rack"] = "3";
        if (random_.chance(0.3)) label_map.erase(api::labels::replicated);
        next["spec"].as_object()["class"] = "other";
      },
      actor);
}

void Chaos::delete_replica() {
  Cluster& provider = any_provider();
  // No NamespaceMap is deleted: the twins of running pods would go with it.
  const kube::Resource& kind = random_.chance(0.7) ? api::kinds::resource_slices : api::kinds::renews;
  const Tree replica = draw_tree(random_, provider.server.list(kind));
  if (!replica) return;
  note("replica " + std::string(name_of(*replica)) + " is deleted in " + provider.id);
  (void)provider.server.remove(kind, key_of(*replica), {}, actor);
}

void Chaos::delete_slice() {
  const Tree slice = draw_tree(random_, world_.home.server.list(api::kinds::resource_slices));
  if (!slice) return;
  note("slice " + std::string(name_of(*slice)) + " is deleted");
  (void)world_.home.server.remove(api::kinds::resource_slices, key_of(*slice), {}, actor);
}

void Chaos::create_slice() {
  // Some slices take the name of an earlier one, which may still be going.
  const std::string name =
      "slice-" + std::to_string(random_.chance(0.3) ? random_.between(0, next_slice_) : next_slice_++);
  note("slice " + name + " is created");
  (void)world_.home.server.create(api::kinds::resource_slices, replicated_slice(world_.home, any_provider().id, name),
                                  actor);
}

void Chaos::rotate_credentials() {
  const std::string provider = any_provider().id;
  note("new credentials for " + provider);
  (void)world_.home.server.update(
      {resources::secrets, {tenant_namespace(provider), "kubeconfig-controlplane-" + provider}},
      [&](json::object& next) { next["data"].as_object()["issued"] = std::to_string(random_.between(1, 1'000'000)); },
      actor);
}

}  // namespace liqo::sim
