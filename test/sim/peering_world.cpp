#include "peering_world.hpp"

#include <algorithm>
#include <set>

#include "core/common/peer_names.hpp"
#include "core/common/resources.hpp"
#include "core/common/secret_bytes.hpp"
#include "core/peering/forge.hpp"
#include "core/peering/renewal.hpp"
#include "core/slices/policy.hpp"
#include "faults.hpp"
#include "kube/base/base64.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/resource_slice.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using kube::Object;
using kube::ObjectKey;
using kube::testing::ChangeType;
using kube::testing::FakeChange;
namespace kinds = api::kinds;
namespace labels = api::labels;
namespace resources = kube::resources;

namespace {

constexpr std::string_view user = "user";
constexpr kube::Duration patience = 10min;
const std::string home_tenant = core::tenant_namespace_name("milan"), away_tenant = core::tenant_namespace_name("rome");
const core::Resources defaults = *core::read_resources({{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}});

/// The grant for a request: all of it, and the defaults for what it leaves open.
core::Resources grant_of(const json::object& slice) {
  core::Resources granted = core::read_resources(kube::object_at(slice, {"spec", "resources"})).value_or(defaults);
  for (const auto& [name, amount] : defaults) granted.emplace(name, amount);
  return granted;
}

std::string_view label(const json::object& object, std::string_view key) {
  return kube::string_at(object, {"metadata", "labels", key});
}

controllers::Settings settings_of(const std::string& cluster, bool short_lived) {
  controllers::Settings settings;
  settings.cluster_id = cluster;
  settings.nodes.node_ip = "172.18.0.2";
  settings.nodes.kubelet_version = "v1.35.4";
  settings.peering.api_server_override = address_of(cluster);
  if (short_lived) settings.peering.certificate_validity = 10min;
  settings.slices.defaults = defaults;
  return settings;
}

/// The certificate in a kubeconfig Secret.
std::optional<core::IssuedCertificate> certificate_of(const json::object& secret) {
  const auto text = kube::decode_base64(kube::string_at(secret, {"data", "kubeconfig"}));
  if (!text) return std::nullopt;
  constexpr std::string_view field = "client-certificate-data:";
  const std::size_t at = text->find(field);
  if (at == std::string::npos) return std::nullopt;
  std::string encoded = text->substr(at + field.size());
  encoded.resize(encoded.find('\n'));
  std::erase_if(encoded, [](char c) { return c == ' ' || c == '"' || c == '\''; });
  const auto pem = kube::decode_base64(encoded);
  auto read = core::read_certificate(pem.value_or(""));
  return read ? std::optional(std::move(*read)) : std::nullopt;
}

}  // namespace

PeeringWorld::PeeringWorld(std::uint64_t seed)
    : simulator_(seed),
      random_(seed * 2654435761u + 29),
      rome_(simulator_, "rome", simulator_.random().next()),
      milan_(simulator_, "milan", simulator_.random().next()),
      // kube-controller-manager backdates certificates by five minutes, too.
      signer_(
          simulator_, milan_.server,
          {.seed = simulator_.random().next(), .min_delay = 5ms, .max_delay = 2s, .validity = 24h, .backdating = 5min}),
      group_(simulator_.executor(), kube::async::TaskGroup::OnFailure::keep_others),
      short_lived_(random_.chance(0.3)) {
  const bool pairs = random_.chance(0.3);
  const auto add = [&](Cluster& cluster, const std::map<std::string, kube::testing::FakeApiServer*>& providers) {
    const auto make = [&](const std::string& identity) {
      return std::make_unique<ProcessBox>(simulator_, cluster.id, cluster.server, providers,
                                          settings_of(cluster.id, short_lived_), identity);
    };
    auto& first = daemons_[cluster.id] = make(pairs ? cluster.id + "-a" : "");
    if (!pairs) return;
    auto& second = daemons_[cluster.id + "/b"] = make(cluster.id + "-b");
    first->set_rival(*second);
    second->set_rival(*first);
  };
  add(rome_, {{"milan", &milan_.server}});
  add(milan_, {});
}

void PeeringWorld::note(std::string what) {
  log_.push_back(time_text(simulator_.clock().now()) + " " + std::move(what));
}

std::vector<kube::testing::SimLink*> PeeringWorld::links() {
  std::vector<kube::testing::SimLink*> all;
  for (auto& [name, daemon] : daemons_)
    for (kube::testing::SimLink* link : daemon->links()) all.push_back(link);
  return all;
}

void PeeringWorld::break_network() {
  const kube::testing::FaultRates faults = draw_faults(random_, 1s);
  for (kube::testing::SimLink* link : links()) link->set_faults(faults);
  signer_.negligence = draw_rate(random_, 0.3);
}

// ---- The user ----------------------------------------------------------------------------------------------------

void PeeringWorld::peer() {
  (void)rome_.server.create(resources::namespaces, core::forge_tenant_namespace("milan").tree(), user);
  (void)milan_.server.create(resources::namespaces, core::forge_tenant_namespace("rome").tree(), user);
  const Tree keys = rome_.server.get(resources::secrets, {"liqo", std::string(core::cluster_keys_secret)});
  const auto key = keys ? core::read_cluster_keys(Object(*keys)) : kube::fail(kube::Errc::missing, "no keys yet");
  if (!key) return;
  const Tree tenant = milan_.server.get(kinds::tenants, {away_tenant, "rome"});
  if (!tenant) {
    (void)milan_.server.create(resources::secrets, core::forge_nonce_secret(away_tenant, "rome").tree(), user);
    const Tree nonce_secret = milan_.server.get(resources::secrets, {away_tenant, std::string(core::nonce_secret)});
    const std::string nonce = core::secret_bytes(Object(*nonce_secret), "nonce");
    if (nonce.empty()) return;
    (void)rome_.server.create(resources::secrets, core::forge_signed_nonce_secret(home_tenant, "milan", nonce).tree(),
                              user);
    const Tree signed_secret =
        rome_.server.get(resources::secrets, {home_tenant, std::string(core::signed_nonce_secret)});
    const std::string signature = core::secret_bytes(Object(*signed_secret), "signedNonce");
    if (signature.empty()) return;
    const auto made =
        core::forge_tenant({.tenant_namespace = away_tenant, .consumer = "rome", .signature = signature}, *key);
    if (milan_.server.create(kinds::tenants, made.value().tree(), user)) note("Tenant rome is created");
    return;
  }
  const json::object& params = kube::object_at(*tenant, {"status", "authParams"});
  if (params.empty()) return;
  const Object identity = core::forge_identity({.tenant_namespace = home_tenant,
                                                .provider = "milan",
                                                .auth_params = params,
                                                .remote_namespace = away_tenant,
                                                .slice = {}});
  if (rome_.server.create(kinds::identities, identity.tree(), user)) note("Identity milan is created");
}

asio::awaitable<void> PeeringWorld::live() {
  static constexpr std::pair<int, Act> acts[] = {
      {4, &PeeringWorld::restart_daemon},      {4, &PeeringWorld::break_link},
      {2, &PeeringWorld::cut_watches},         {2, &PeeringWorld::compact},
      {5, &PeeringWorld::create_slice},        {6, &PeeringWorld::edit_slice},
      {3, &PeeringWorld::delete_slice},        {2, &PeeringWorld::mark_slice},
      {2, &PeeringWorld::set_tenant},          {2, &PeeringWorld::delete_quota},
      {2, &PeeringWorld::delete_virtual_node}, {1, &PeeringWorld::delete_credentials},
  };
  kube::testing::VirtualClock& clock = simulator_.clock();
  const kube::TimePoint end = clock.now() + std::chrono::seconds(random_.between(40, 120));
  while (clock.now() < end) {
    co_await clock.sleep(std::chrono::milliseconds(random_.between(20, 6000)));
    peer();
    (this->*draw_act(acts, random_))();
  }
  co_await group_.join();
}

void PeeringWorld::restart_daemon() {
  auto chosen = daemons_.begin();
  std::advance(chosen, random_.between(0, static_cast<std::int64_t>(daemons_.size()) - 1));
  const std::string& cluster = chosen->first;
  if (!chosen->second->is_running()) return;
  const bool killed = random_.chance(0.6);
  group_.spawn(
      restart(cluster, killed, std::chrono::milliseconds(random_.chance(0.5) ? 0 : random_.between(0, 20'000))));
}

asio::awaitable<void> PeeringWorld::restart(std::string cluster, bool killed, kube::Duration downtime) {
  ProcessBox& daemon = *daemons_.at(cluster);
  note((killed ? "kill liqod of " : "stop liqod of ") + cluster);
  co_await daemon.stop(killed);
  co_await simulator_.clock().sleep(downtime);
  note("start liqod of " + cluster);
  daemon.start();
}

void PeeringWorld::break_link() {
  const auto all = links();
  kube::testing::SimLink* link =
      all[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(all.size()) - 1))];
  note("partition of a link of " + link->actor());
  group_.spawn(partition(link, std::chrono::milliseconds(random_.between(1000, 60'000))));
}

asio::awaitable<void> PeeringWorld::partition(kube::testing::SimLink* link, kube::Duration length) {
  link->partition();
  co_await simulator_.clock().sleep(length);
  link->heal();
}

void PeeringWorld::cut_watches() {
  note("all watches break");
  for (kube::testing::SimLink* link : links()) link->cut_watches();
}

void PeeringWorld::compact() {
  note("both servers compact");
  for (Cluster* cluster : {&rome_, &milan_}) cluster->server.store().compact(cluster->server.store().version());
}

void PeeringWorld::create_slice() {
  // Some slices take the name of an earlier one, which may still be going.
  const std::string name =
      "slice-" +
      std::to_string(next_slice_ > 0 && random_.chance(0.4) ? random_.between(0, next_slice_) : next_slice_++);
  json::object metadata{{"name", name}, {"namespace", home_tenant}};
  metadata["labels"] = json::object{{labels::remote_cluster_id, "milan"}};
  json::object asked{{"cpu", std::to_string(random_.between(1, 16))}};
  if (random_.chance(0.5)) asked["memory"] = std::to_string(random_.between(1, 64)) + "Gi";
  if (rome_.server.create(kinds::resource_slices,
                          {{"metadata", std::move(metadata)}, {"spec", json::object{{"resources", std::move(asked)}}}},
                          user))
    note("slice " + name + " is created");
}

void PeeringWorld::edit_slice() {
  const Tree slice = draw_tree(random_, rome_.server.list(kinds::resource_slices));
  if (!slice || is_deleting(*slice)) return;
  const std::string amount = std::to_string(random_.between(1, 32));
  const bool adds = random_.chance(0.6);
  note("slice " + std::string(name_of(*slice)) + (adds ? " asks for cpu=" + amount : " asks for the default cpu"));
  (void)rome_.server.update(
      {kinds::resource_slices, key_of(*slice)},
      [&](json::object& next) {
        json::object& asked = kube::testing::ensure_path(next, {"spec", "resources"});
        if (adds) {
          asked["cpu"] = amount;
        } else {
          asked.erase("cpu");
        }
      },
      user);
}

void PeeringWorld::delete_slice() {
  const Tree slice = draw_tree(random_, rome_.server.list(kinds::resource_slices));
  if (!slice) return;
  note("slice " + std::string(name_of(*slice)) + " is deleted");
  (void)rome_.server.remove(kinds::resource_slices, key_of(*slice), {}, user);
}

void PeeringWorld::mark_slice() {
  const Tree replica = draw_tree(random_, milan_.server.list(kinds::resource_slices));
  if (!replica || is_deleting(*replica)) return;
  const bool cordons = random_.chance(0.5);
  note("slice " + std::string(name_of(*replica)) + (cordons ? " is cordoned" : " is uncordoned"));
  (void)milan_.server.update(
      {kinds::resource_slices, key_of(*replica)},
      [&](json::object& next) {
        if (cordons) {
          kube::testing::set_annotation(next, api::annotations::cordon, "true");
        } else {
          kube::testing::remove_annotation(next, api::annotations::cordon);
        }
      },
      user);
}

void PeeringWorld::set_tenant() {
  static constexpr std::string_view states[] = {"Active", "Cordoned", "Drained"};
  const std::string_view state = states[random_.between(0, 2)];
  note("tenant rome is " + std::string(state));
  (void)milan_.server.update(
      {kinds::tenants, {away_tenant, "rome"}},
      [&](json::object& next) { kube::ensure_object(next, "spec")["tenantCondition"] = state; }, user);
}

void PeeringWorld::delete_quota() {
  const Tree quota = draw_tree(random_, milan_.server.list(kinds::quotas));
  if (!quota) return;
  note("Quota " + std::string(name_of(*quota)) + " is deleted");
  (void)milan_.server.remove(kinds::quotas, key_of(*quota), {}, user);
}

void PeeringWorld::delete_virtual_node() {
  const Tree node = draw_tree(random_, rome_.server.list(kinds::virtual_nodes));
  if (!node) return;
  note("VirtualNode " + std::string(name_of(*node)) + " is deleted");
  (void)rome_.server.remove(kinds::virtual_nodes, key_of(*node), {}, user);
}

void PeeringWorld::delete_credentials() {
  std::vector<Tree> kubeconfigs;
  for (const Tree& secret : rome_.server.list(resources::secrets, home_tenant))
    if (label(*secret, labels::identity_type) == "ResourceSlice") kubeconfigs.push_back(secret);
  const Tree secret = draw_tree(random_, kubeconfigs);
  if (!secret) return;
  note("Secret " + std::string(name_of(*secret)) + " is deleted");
  (void)rome_.server.remove(resources::secrets, key_of(*secret), {}, user);
}

void PeeringWorld::calm_down() {
  for (kube::testing::SimLink* link : links()) {
    link->set_faults({});
    link->heal();
  }
  signer_.negligence = 0;
  (void)milan_.server.update(
      {kinds::tenants, {away_tenant, "rome"}},
      [](json::object& next) { kube::ensure_object(next, "spec")["tenantCondition"] = "Active"; }, user);
  for (const Tree& replica : milan_.server.list(kinds::resource_slices))
    (void)milan_.server.update(
        {kinds::resource_slices, key_of(*replica)},
        [](json::object& next) { kube::testing::remove_annotation(next, api::annotations::cordon); }, user);
  note("everything heals");
}

// ---- Checks ------------------------------------------------------------------------------------------------------

std::string PeeringWorld::compare_slice(const json::object& slice) {
  const std::string name(name_of(slice)), title = "slice " + name;
  if (is_deleting(slice)) return title + " is still being deleted";
  const Object object(slice);
  const api::ResourceSlice view(object);
  for (const std::string_view type : {"Authentication", "Resources"})
    if (!view.is_accepted(type)) return title + ": " + std::string(type) + " is not accepted";
  const core::Resources wanted = grant_of(slice);
  const auto says = [&wanted](const json::object& list) {
    return core::read_resources(list).value_or(core::Resources()) == wanted;
  };
  if (!says(view.granted())) return title + " is granted " + json::serialize(view.granted());
  const std::string slice_user = core::slice_user(name, "rome");
  const Tree quota = milan_.server.get(kinds::quotas, {away_tenant, slice_user});
  if (!quota) return title + " has no Quota";
  if (!says(kube::object_at(*quota, {"spec", "resources"}))) return "the Quota of " + title + " has other amounts";
  if (kube::bool_at(*quota, {"spec", "cordoned"})) return "the Quota of " + title + " is cordoned";
  if (kube::string_at(*quota, {"spec", "user"}) != slice_user) return "the Quota of " + title + " is another user's";
  const Tree virtual_node = rome_.server.get(kinds::virtual_nodes, {home_tenant, name});
  if (!virtual_node || is_deleting(*virtual_node)) return title + " has no VirtualNode";
  if (!says(kube::object_at(*virtual_node, {"spec", "resourceQuota", "hard"})))
    return "the VirtualNode of " + title + " has another size";
  const Tree node = rome_.server.get(resources::nodes, {"", name});
  if (!node) return title + " has no Node";
  for (const auto& [resource, amount] : wanted)
    if (kube::string_at(*node, {"status", "allocatable", resource}).empty())
      return "the Node of " + title + " lacks " + resource;
  const Tree secret = rome_.server.get(resources::secrets,
                                       {home_tenant, core::kubeconfig_secret_name(core::slice_identity_name(name))});
  const auto certificate = secret ? certificate_of(*secret) : std::nullopt;
  if (!certificate) return title + " has no credentials";
  if (!certificate->name || *certificate->name != core::slice_name(name, "rome"))
    return "the credentials of " + title + " are for somebody else";
  return "";
}

std::string PeeringWorld::find_difference() {
  std::map<std::string, int> leading;
  for (auto& [name, daemon] : daemons_) {
    if (!daemon->is_running()) return "liqod of " + name + " is not running";
    leading[daemon->cluster()] += daemon->leads();
    if (daemon->leads() && !daemon->process()->has_synced()) return "liqod of " + name + " has incomplete caches";
  }
  for (const auto& [cluster, leaders] : leading)
    if (leaders != 1) return std::to_string(leaders) + " processes lead in " + cluster;
  std::set<std::string> names, users;
  for (const Tree& slice : rome_.server.list(kinds::resource_slices)) {
    if (auto difference = compare_slice(*slice); !difference.empty()) return difference;
    names.emplace(name_of(*slice));
    users.insert(core::slice_user(name_of(*slice), "rome"));
  }
  for (const Tree& replica : milan_.server.list(kinds::resource_slices))
    if (!names.contains(std::string(name_of(*replica)))) return "an orphan: replica " + std::string(name_of(*replica));
  for (const Tree& quota : milan_.server.list(kinds::quotas))
    if (!users.contains(std::string(name_of(*quota)))) return "an orphan: Quota " + std::string(name_of(*quota));
  for (const Tree& node : rome_.server.list(kinds::virtual_nodes))
    if (!names.contains(std::string(name_of(*node)))) return "an orphan: VirtualNode " + std::string(name_of(*node));
  const Tree secret = rome_.server.get(
      resources::secrets, {home_tenant, core::kubeconfig_secret_name(core::control_plane_identity_name("milan"))});
  const auto certificate = secret ? certificate_of(*secret) : std::nullopt;
  if (!certificate) return "rome has no credentials at milan";
  if (!certificate->name || *certificate->name != core::control_plane_name("rome"))
    return "the credentials of rome are for somebody else";
  return "";
}

void PeeringWorld::check_certificates() {
  for (const Tree& secret : rome_.server.list(resources::secrets, home_tenant)) {
    if (label(*secret, labels::identity_type).empty()) continue;
    const auto certificate = certificate_of(*secret);
    if (!certificate || certificate->not_after <= simulator_.clock().wall())
      violations_.push_back({"credentials never expire", std::string(name_of(*secret))});
  }
}

void PeeringWorld::check_end() {
  std::string difference;
  for (kube::Duration waited{}; waited < patience; waited += 5s) {
    simulator_.run_for(5s);
    peer();
    difference = find_difference();
    if (difference.empty()) break;
  }
  for (auto& [name, daemon] : daemons_)
    if (!daemon->crash().empty()) violations_.push_back({"liqod never ends by itself", name + " " + daemon->crash()});
  if (!difference.empty()) return violations_.push_back({"everything converges", difference});
  if (short_lived_) {
    for (kube::Duration waited{}; waited < 15min && violations_.empty(); waited += 30s) {
      simulator_.run_for(30s);
      check_certificates();
    }
  } else {
    // An object that is not checked above may wait for a watch that is retried once a minute.
    simulator_.run_for(3min);
    const kube::TimePoint settled = simulator_.clock().now();
    simulator_.run_for(60s);
    for (Cluster* cluster : {&rome_, &milan_})
      for (const kube::testing::FakeWrite& write : cluster->server.writes())
        if (write.at > settled && write.plural != "leases" && write.plural != "nodes" && write.plural != "events")
          violations_.push_back({"what has converged is quiet",
                                 write.method + " " + write.plural + " " + write.key.text() + " by " + write.actor});
  }
  if (difference = find_difference(); !difference.empty())
    violations_.push_back({"everything converges", "and stays: " + difference});
}

void PeeringWorld::check_history() {
  // By slice: every grant that one of its requests could get.
  std::map<std::string, std::vector<core::Resources>> grants;
  for (const FakeChange& change : rome_.server.store().table(kinds::resource_slices).log) {
    grants[change.key.name].push_back(grant_of(*change.after));
    const Object object(*change.after);
    if (api::ResourceSlice(object).is_denied("Authentication"))
      violations_.push_back({"what fails for a time is never denied", "slice " + change.key.name});
  }
  for (const FakeChange& change : milan_.server.store().table(kinds::quotas).log) {
    const std::string slice = change.key.name.substr(0, change.key.name.rfind('-'));
    const auto amounts = core::read_resources(kube::object_at(*change.after, {"spec", "resources"}));
    if (!amounts || std::ranges::find(grants[slice], *amounts) == grants[slice].end())
      violations_.push_back({"a Quota is what was asked for at some time", change.key.name});
  }
  for (const FakeChange& change : rome_.server.store().table(kinds::virtual_nodes).log) {
    const auto amounts = core::read_resources(kube::object_at(*change.after, {"spec", "resourceQuota", "hard"}));
    if (!amounts || std::ranges::find(grants[change.key.name], *amounts) == grants[change.key.name].end())
      violations_.push_back({"a VirtualNode is what was granted at some time", change.key.name});
  }
}

std::string PeeringWorld::find_leftover() {
  const auto left = [](Cluster& cluster, const kube::Resource& kind, std::string_view ns) -> std::string {
    const auto found = cluster.server.list(kind, ns);
    return found.empty() ? "" : std::string(kind.kind) + " " + std::string(name_of(*found[0])) + " in " + cluster.id;
  };
  for (const kube::Resource& kind : {kinds::resource_slices, kinds::virtual_nodes, kinds::namespace_maps,
                                     kinds::identities, kinds::renews, resources::nodes, kinds::foreign_clusters})
    if (auto found = left(rome_, kind, ""); !found.empty()) return found;
  for (const kube::Resource& kind : {kinds::resource_slices, kinds::quotas, kinds::namespace_maps, kinds::renews,
                                     kinds::tenants, kinds::cluster_role_bindings, kinds::foreign_clusters})
    if (auto found = left(milan_, kind, ""); !found.empty()) return found;
  for (const Tree& secret : rome_.server.list(resources::secrets, home_tenant))
    if (!label(*secret, labels::identity_type).empty()) return "Secret " + std::string(name_of(*secret)) + " in rome";
  return "";
}

void PeeringWorld::check_unpeering() {
  const auto wait = [this](const std::function<std::string()>& look) {
    std::string left;
    for (kube::Duration waited{}; waited < patience; waited += 2s) {
      left = look();
      if (left.empty()) return left;
      simulator_.run_for(2s);
    }
    return left;
  };
  note("unpeering");
  for (const Tree& slice : rome_.server.list(kinds::resource_slices))
    (void)rome_.server.remove(kinds::resource_slices, key_of(*slice), {}, user);
  const auto slices = [this] {
    return rome_.server.list(kinds::resource_slices).empty() ? std::string() : std::string("a slice is held");
  };
  std::string left = wait(slices);
  if (left.empty()) {
    (void)rome_.server.remove(kinds::identities, {home_tenant, core::control_plane_identity_name("milan")}, {}, user);
    (void)milan_.server.remove(kinds::tenants, {away_tenant, "rome"}, {}, user);
    left = wait([this] { return find_leftover(); });
  }
  if (!left.empty()) violations_.push_back({"nothing is left", left});
}

std::vector<Violation> PeeringWorld::run() {
  const std::string liqo = "liqo";
  for (Cluster* cluster : {&rome_, &milan_})
    (void)cluster->server.create(resources::namespaces, {{"metadata", json::object{{"name", liqo}}}}, "operator");
  break_network();
  for (auto& [name, daemon] : daemons_) daemon->start();
  try {
    simulator_.run(live(), 1h);
  } catch (const std::exception& error) {
    violations_.push_back({"every process can be restarted", error.what()});
    return std::move(violations_);
  }
  calm_down();
  check_end();
  check_history();
  for (auto& [name, daemon] : daemons_)
    for (Violation& violation : daemon->check_requests()) violations_.push_back(std::move(violation));
  if (violations_.empty()) check_unpeering();
  for (const std::string& name : stop_all(simulator_, daemons_))
    violations_.push_back({"every process can be stopped", name + " does not end"});
  return std::move(violations_);
}

}  // namespace liqo::sim
