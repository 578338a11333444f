#include "world.hpp"

#include "faults.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using kube::testing::FakeKubelet;

namespace {

/// One in so many schedules has a hundred virtual nodes of ten providers; it takes six times as long.
constexpr std::uint64_t crowded_seed = 20;
constexpr std::string_view provider_names[] = {"milan", "turin", "genoa",  "parma", "siena",
                                               "lucca", "udine", "varese", "lecce", "ostia"};

}  // namespace

Difficulty difficulty_of(std::uint64_t seed) {
  kube::Random random(seed * 2654435761u + 17);
  Difficulty d;
  d.calm = seed % 16 == 0;
  d.tokens = seed % 3 == 1;
  d.providers = static_cast<int>(random.between(1, 2));
  if (d.calm) {
    d.actions_per_second = 0;
    return d;
  }
  d.duration = std::chrono::seconds(random.between(30, 120));
  d.actions_per_second = 0.1 + 0.5 * random.unit();
  d.faults = draw_faults(random, 2s);
  d.pairs = random.chance(0.3);
  if (seed % crowded_seed != crowded_seed / 2) return d;
  d.providers = 10;
  d.virtual_nodes = 10;
  d.duration = 30s;
  d.pairs = false;
  return d;
}

controllers::Settings World::settings_for(const Difficulty& difficulty, std::string_view cluster) {
  controllers::Settings settings;
  settings.cluster_id = cluster;
  settings.nodes.node_ip = "172.18.0.2";
  settings.nodes.kubelet_version = "v1.35.4";
  settings.offloading.api_server_mode = difficulty.tokens ? core::ApiServerMode::always : core::ApiServerMode::needed;
  return settings;
}

void read_itself(json::object& pod) {
  const auto reads = [](std::string_view path) { return json::object{{"fieldPath", path}}; };
  json::array files;
  for (const auto& [file, path] : fields_read) files.push_back(json::object{{"path", file}, {"fieldRef", reads(path)}});
  json::object& spec = pod["spec"].as_object();
  spec["volumes"] = json::array{json::object{{"name", about_volume}, {"downwardAPI", json::object{{"items", files}}}}};
  spec["containers"].as_array()[0].as_object()["env"] = json::array{
      json::object{{"name", uid_variable}, {"valueFrom", json::object{{"fieldRef", reads("metadata.uid")}}}}};
}

World::World(std::uint64_t seed)
    : difficulty(difficulty_of(seed)),
      simulator(seed),
      home(simulator, "rome", simulator.random().next()),
      jobs(simulator, home.server) {
  std::map<std::string, kube::testing::FakeApiServer*> servers;
  for (std::string_view name : provider_names) {
    if (static_cast<int>(providers.size()) == difficulty.providers) break;
    auto& made = providers[std::string(name)];
    made = std::make_unique<Cluster>(simulator, std::string(name), simulator.random().next());
    servers[std::string(name)] = &made->server;
    grants.push_back(std::make_unique<FakeGrants>(simulator, made->server, simulator.random().next()));
  }
  add_daemon("rome", home.server, servers);
  for (auto& [name, provider] : providers) add_daemon(name, provider->server, {});
}

void World::add_daemon(const std::string& name, kube::testing::FakeApiServer& server,
                       const std::map<std::string, kube::testing::FakeApiServer*>& servers) {
  const auto settings = settings_for(difficulty, name);
  auto& first = daemons[name];
  first = std::make_unique<ProcessBox>(simulator, name, server, servers, settings, difficulty.pairs ? name + "-a" : "");
  if (!difficulty.pairs) return;
  auto& second = daemons[name + "/b"];
  second = std::make_unique<ProcessBox>(simulator, name, server, servers, settings, name + "-b");
  first->set_rival(*second);
  second->set_rival(*first);
}

void World::start() {
  const std::string ns(home_namespace);
  for (auto& [name, provider] : providers) {
    home.add_provider(name);
    for (int i = 1; i < difficulty.virtual_nodes; ++i) home.add_virtual_node(name, name + "." + std::to_string(i));
    add_tenant_namespace(*provider, home.id);
    add_twin(*provider, home.id);
  }
  const auto make = [&](const kube::Resource& kind, std::string_view name, json::object rest) {
    rest["metadata"] = json::object{{"name", name}, {"namespace", ns}};
    (void)home.server.create(kind, std::move(rest), "operator");
  };
  make(kube::resources::service_accounts, "default", {});
  (void)home.server.create(kube::resources::namespaces, {{"metadata", json::object{{"name", ns}}}}, "operator");
  make(kube::resources::config_maps, "kube-root-ca.crt", {{"data", json::object{{"ca.crt", "rome"}}}});
  make(kube::resources::config_maps, "settings", {{"data", json::object{{"answer", "42"}}}});

  set_faults(difficulty.faults);
  for (auto& [name, daemon] : daemons) daemon->start();

  kube::Random& random = simulator.random();
  json::object web = workload_pod("web", "Always");
  read_itself(web);
  if (random.chance(0.5)) track(web);
  replicas = std::make_unique<kube::testing::FakeReplicaSet>(simulator, home.server, std::move(web),
                                                             static_cast<int>(random.between(1, 4)));
  for (int i = 0; i < 3; ++i) {
    json::object job = workload_pod("job-" + std::to_string(i), i == 0 ? "OnFailure" : "Never");
    json::object& annotations = job["metadata"].as_object()["annotations"].as_object();
    annotations[FakeKubelet::run_seconds] = std::to_string(random.between(1, 60));
    annotations[FakeKubelet::exit_code] = std::to_string(i == 1 ? 1 : 0);
    if (difficulty.tokens)
      job["spec"].as_object()["volumes"] = json::array{json::object{
          {"name", "kube-api-access-abcde"},
          {"projected",
           json::object{{"sources",
                         json::array{json::object{{"serviceAccountToken",
                                                   json::object{{"path", "token"}, {"expirationSeconds", 3607}}}}}}}}}};
    if (random.chance(0.5)) track(job);
    (void)home.server.create(kube::resources::pods, std::move(job), "operator");
  }
  json::object database = workload_pod("db-0", "Always");
  read_itself(database);
  (void)home.server.create(kube::resources::pods, std::move(database), "operator");
}

bool World::stop() { return stop_all(simulator, daemons).empty(); }

ProcessBox& World::daemon(std::string_view cluster) { return *daemons.at(std::string(cluster)); }

Cluster& World::cluster(std::string_view id) { return id == home.id ? home : *providers.at(std::string(id)); }

std::vector<kube::testing::SimLink*> World::links() {
  std::vector<kube::testing::SimLink*> all;
  for (auto& [name, daemon] : daemons)
    for (kube::testing::SimLink* link : daemon->links()) all.push_back(link);
  return all;
}

void World::set_faults(const kube::testing::FaultRates& faults) {
  for (kube::testing::SimLink* link : links()) link->set_faults(faults);
}

}  // namespace liqo::sim
