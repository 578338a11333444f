// The actions of people, and the failures, in the simulation of reflection.
#include <algorithm>

#include "faults.hpp"
#include "kube/base/base64.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"
#include "reflection_world.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using kube::ObjectKey;
using kube::testing::SimLink;
namespace resources = kube::resources;

namespace {

bool has_our_labels(const json::object& object) {
  return !kube::string_at(object, {"metadata", "labels", api::labels::reflection_origin}).empty();
}

/// Data of a ConfigMap or a Secret, or a part of a spec, that no copy has.
json::object draw_other_content(std::string_view kind) {
  if (kind == "ConfigMap" || kind == "Secret") return {{"data", json::object{{"theirs", "eA=="}}}};
  return {{"spec", json::object{{"theirs", "x"}}}};
}

json::object draw_service(kube::Random& random, const std::string& value) {
  constexpr std::string_view types[] = {"ClusterIP", "ClusterIP", "NodePort", "LoadBalancer"};
  json::object spec{
      {"type", types[random.between(0, 3)]},
      {"selector", json::object{{"app", value}}},
      {"ports", json::array{json::object{
                    {"name", "http"}, {"protocol", "TCP"}, {"port", random.between(80, 90)}, {"targetPort", 8080}}}}};
  if (spec["type"] == "ClusterIP") spec["clusterIP"] = random.chance(0.4) ? "None" : "10.96.0.7";
  return spec;
}

/// Endpoints in pods of home and of providers, and some elsewhere.
json::array draw_endpoints(kube::Random& random, bool ipv6) {
  constexpr std::string_view nodes[] = {"worker-1", "worker-1", "milan", "milan-2", "turin"};
  json::array endpoints;
  for (auto left = random.between(0, 3); left > 0; --left) {
    const std::string last = std::to_string(random.between(1, 250));
    json::object endpoint{{"addresses", json::array{json::value((ipv6 ? "fd00::" : "10.1.0.") + last)}},
                          {"conditions", json::object{{"ready", random.chance(0.7)}}}};
    if (random.chance(0.7)) {
      endpoint["nodeName"] = nodes[random.between(0, 4)];
      endpoint["targetRef"] = json::object{{"kind", "Pod"}, {"namespace", home_namespace}, {"name", "pod-" + last}};
    }
    endpoints.emplace_back(std::move(endpoint));
  }
  return endpoints;
}

void draw_slice(kube::Random& random, json::object& slice) {
  constexpr std::string_view types[] = {"IPv4", "IPv4", "IPv4", "IPv6", "FQDN"};
  slice["addressType"] = types[random.between(0, 4)];
  slice["ports"] = json::array{json::object{{"name", "http"}, {"protocol", "TCP"}, {"port", random.between(80, 90)}}};
  slice["endpoints"] = draw_endpoints(random, slice["addressType"] == "IPv6");
  if (random.chance(0.8))
    slice["metadata"].as_object()["labels"].as_object()[api::labels::service_name] =
        "service-" + std::to_string(random.between(0, 3));
}

json::object draw_ingress(kube::Random& random, const std::string& value) {
  const std::string host = value + ".example";
  const json::object backend{{"service", json::object{{"name", "service-0"}, {"port", json::object{{"number", 80}}}}}};
  json::object spec{
      {"rules",
       json::array{json::object{
           {"host", host},
           {"http", json::object{{"paths", json::array{json::object{
                                               {"path", "/"}, {"pathType", "Prefix"}, {"backend", backend}}}}}}}}}};
  if (random.chance(0.6))
    spec["tls"] = json::array{json::object{{"hosts", json::array{json::value(host)}},
                                           {"secretName", "secret-" + std::to_string(random.between(0, 4))}}};
  return spec;
}

}  // namespace

std::span<const DrawnKind> drawn_kinds() {
  static constexpr DrawnKind kinds[] = {
      {"ConfigMap", "config-", 4}, {"Secret", "secret-", 5},       {"Service", "service-", 4},
      {"Ingress", "ingress-", 3},  {"EndpointSlice", "slice-", 4}, {"Widget", "widget-", 4},
  };
  return kinds;
}

asio::awaitable<void> ReflectionWorld::live() {
  static constexpr std::pair<int, Act> acts[] = {
      {8, &ReflectionWorld::create_object},
      {8, &ReflectionWorld::edit_object},
      {4, &ReflectionWorld::delete_object},
      {4, &ReflectionWorld::create_pod},
      {4, &ReflectionWorld::delete_pod},
      {3, &ReflectionWorld::change_virtual_nodes},
      {1, &ReflectionWorld::edit_filters},
      {5, &ReflectionWorld::edit_copy},
      {4, &ReflectionWorld::delete_copy},
      {2, &ReflectionWorld::hold_copy},
      {6, &ReflectionWorld::take_name},
      {4, &ReflectionWorld::free_name},
      {2, &ReflectionWorld::forge_copy},
      {4, &ReflectionWorld::give_addresses},
      {3, &ReflectionWorld::change_endpoint_rules},
      {4, &ReflectionWorld::meddle_with_endpoints},
      {3, &ReflectionWorld::take_token_name},
      {5, &ReflectionWorld::change_claim},
      {2, &ReflectionWorld::meddle_with_claims},
      {2, &ReflectionWorld::say_something},
      {8, &ReflectionWorld::operate},
      {2, &ReflectionWorld::set_status_at_home},
      {1, &ReflectionWorld::delete_definition},
      {3, &ReflectionWorld::restart_daemon},
      {3, &ReflectionWorld::break_link},
      {1, &ReflectionWorld::restart_api_server},
      {2, &ReflectionWorld::cut_watches},
      {1, &ReflectionWorld::compact},
  };
  kube::testing::VirtualClock& clock = simulator_.clock();
  const kube::TimePoint end = clock.now() + std::chrono::seconds(patient_ ? 1200 : random_.between(30, 150));
  while (clock.now() < end) {
    co_await clock.sleep(std::chrono::milliseconds(random_.between(20, patient_ ? 30'000 : 4'000)));
    (this->*draw_act(acts, random_))();
  }
  co_await group_.join();
}

Cluster& ReflectionWorld::any_provider() {
  return *providers_[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(providers_.size()) - 1))];
}

const DrawnKind& ReflectionWorld::any_kind() {
  return drawn_kinds()[static_cast<std::size_t>(
      random_.between(0, static_cast<std::int64_t>(drawn_kinds().size()) - 1))];
}

std::string ReflectionWorld::any_name(const DrawnKind& drawn) {
  return std::string(drawn.stem) + std::to_string(random_.between(0, drawn.objects - 1));
}

Tree ReflectionWorld::any_copy(Cluster& provider, const core::reflection::ReflectedKind& kind) {
  std::vector<Tree> copies;
  for (const Tree& object : provider.server.list(kind.copies(), twin_namespace(home_.id)))
    if (has_our_labels(*object)) copies.push_back(object);
  return draw_tree(random_, copies);
}

// ---- At home -----------------------------------------------------------------------------------------------------

json::object ReflectionWorld::draw(std::string_view kind, const std::string& name) {
  const std::string value = "v" + std::to_string(next_value_++);
  json::object annotations;
  if (random_.chance(0.1)) annotations[api::annotations::skip_reflection] = random_.chance(0.8) ? "true" : "false";
  if (kind == "Secret" && random_.chance(0.3)) annotations[api::annotations::allow_reflection] = "true";
  json::object object{{"metadata", json::object{{"name", name},
                                                {"namespace", home_namespace},
                                                {"labels", json::object{{"edit", value}}},
                                                {"annotations", std::move(annotations)}}}};
  if (kind == "Service") {
    object["spec"] = draw_service(random_, value);
  } else if (kind == "Ingress") {
    object["spec"] = draw_ingress(random_, value);
  } else if (kind == "EndpointSlice") {
    draw_slice(random_, object);
  } else if (kind == widgets().resource.kind) {
    // Few sizes: an earlier spec often comes again.
    object["spec"] = json::object{{"size", random_.between(1, 3)}};
  } else {
    json::object data{{"answer", kube::encode_base64(value)}};
    if (random_.chance(0.4)) data["words"] = kube::encode_base64(value + value);
    object["data"] = std::move(data);
    if (random_.chance(0.15)) object["immutable"] = true;
  }
  if (kind == "Secret") {
    constexpr std::string_view types[] = {"Opaque", "example.com/key", "kubernetes.io/service-account-token"};
    object["type"] = types[random_.chance(0.7) ? 0 : random_.between(1, 2)];
  }
  return object;
}

void ReflectionWorld::create_object() {
  const DrawnKind& drawn = any_kind();
  const std::string name = any_name(drawn);
  if (home_.server.create(kind_of(drawn).resource, draw(drawn.name, name), reflection_user)) note(name + " is created");
}

void ReflectionWorld::edit_object() {
  const DrawnKind& drawn = any_kind();
  const kube::Resource& resource = kind_of(drawn).resource;
  const ObjectKey key{std::string(home_namespace), any_name(drawn)};
  const Tree before = home_.server.get(resource, key);
  if (!before) return;
  json::object after = draw(drawn.name, key.name);
  // Objects with fields that the API server keeps immutable are replaced, and others sometimes.
  const bool is_fixed = kube::bool_at(*before, {"immutable"}) || drawn.name == "Service" ||
                        kube::string_at(*before, {"type"}) != kube::string_at(after, {"type"}) ||
                        kube::string_at(*before, {"addressType"}) != kube::string_at(after, {"addressType"});
  if (is_fixed || random_.chance(0.2)) {
    note(key.name + " is replaced at home");
    (void)home_.server.remove(resource, key, {}, reflection_user);
    (void)home_.server.create(resource, std::move(after), reflection_user);
    return;
  }
  note(key.name + " changes at home");
  (void)home_.server.update(
      {resource, key},
      [&](json::object& next) {
        const std::string shown(kube::string_at(next, {"metadata", "annotations", api::annotations::remote_addresses}));
        for (const char* part : {"labels", "annotations"})
          next["metadata"].as_object()[part] = after["metadata"].as_object()[part];
        // People leave what others have annotated.
        if (!shown.empty())
          kube::ensure_object(next["metadata"].as_object(), "annotations")[api::annotations::remote_addresses] = shown;
        for (const char* part : {"data", "spec", "immutable", "endpoints", "ports"})
          if (const json::value* value = after.if_contains(part)) next[part] = *value;
      },
      reflection_user);
  // A change that is undone at once makes a generation that no copy shows.
  if (drawn.name == widgets().resource.kind && random_.chance(0.3))
    (void)home_.server.update(
        {resource, key}, [&](json::object& next) { next["spec"] = before->at("spec"); }, reflection_user);
}

void ReflectionWorld::delete_object() {
  const DrawnKind& drawn = any_kind();
  const std::string name = any_name(drawn);
  if (home_.server.remove(kind_of(drawn).resource, {std::string(home_namespace), name}, {}, reflection_user))
    note(name + " is deleted at home");
}

void ReflectionWorld::create_pod() {
  const Tree node = draw_tree(random_, home_.server.list(api::kinds::virtual_nodes));
  if (!node || is_deleting(*node) || !home_.server.get(resources::nodes, {"", std::string(name_of(*node))})) return;
  json::object pod = workload_pod("pod-" + std::to_string(next_pod_++), "Always");
  json::object& spec = pod["spec"].as_object();
  spec["nodeName"] = name_of(*node);
  const std::string secret = "secret-" + std::to_string(random_.between(0, 4));
  spec["volumes"] = json::array{json::object{{"name", "keys"}, {"secret", json::object{{"secretName", secret}}}}};
  if (random_.chance(0.6)) give_token(spec, random_.chance(0.4));
  note(std::string(name_of(pod)) + " on " + std::string(name_of(*node)) + " refers to " + secret);
  (void)home_.server.create(resources::pods, std::move(pod), reflection_user);
}

void ReflectionWorld::delete_pod() {
  const Tree pod = draw_tree(random_, home_.server.list(resources::pods, home_namespace));
  if (!pod) return;
  note(std::string(name_of(*pod)) + " is deleted");
  kube::DeleteOptions options;
  if (random_.chance(0.3)) options.grace_period_seconds = 0;
  (void)home_.server.remove(resources::pods, key_of(*pod), options, reflection_user);
}

void ReflectionWorld::change_virtual_nodes() {
  const std::string names[] = {"milan", "milan-2"};
  const ObjectKey one{tenant_namespace("milan"), names[random_.between(0, 1)]},
      other{one.ns, one.name == names[0] ? names[1] : names[0]};
  const Tree there = home_.server.get(api::kinds::virtual_nodes, one);
  const Tree stays = home_.server.get(api::kinds::virtual_nodes, other);
  if (!there) {
    note("virtual node " + one.name + " is made again");
    add_virtual_node("milan", one.name);
  } else if (stays && !is_deleting(*stays) && !is_deleting(*there)) {
    note("virtual node " + one.name + " is deleted");
    note_end();
    (void)home_.server.remove(api::kinds::virtual_nodes, one, {}, reflection_user);
  }
}

void ReflectionWorld::edit_filters() {
  const Tree node = draw_tree(random_, home_.server.list(api::kinds::virtual_nodes));
  if (!node || is_deleting(*node)) return;
  json::array labels;
  if (random_.chance(0.5)) labels.emplace_back("edit");
  note_end();
  note("virtual node " + std::string(name_of(*node)) + " has copies leave out " + json::serialize(labels));
  (void)home_.server.update(
      {api::kinds::virtual_nodes, key_of(*node)},
      [&](json::object& next) {
        next["spec"].as_object()["offloadingPatch"] = json::object{{"labelsNotReflected", labels}};
      },
      reflection_user);
}

// ---- At a provider -----------------------------------------------------------------------------------------------

void ReflectionWorld::edit_copy() {
  Cluster& provider = any_provider();
  const DrawnKind& drawn = any_kind();
  const core::reflection::ReflectedKind& kind = kind_of(drawn);
  const Tree copy = any_copy(provider, kind);
  if (!copy || kube::bool_at(*copy, {"immutable"})) return;
  note("the copy " + std::string(name_of(*copy)) + " is damaged in " + provider.id);
  (void)provider.server.update(
      {kind.copies(), key_of(*copy)},
      [&](json::object& next) {
        json::object& metadata = next["metadata"].as_object();
        if (random_.chance(0.3)) kube::ensure_object(metadata, "labels")["edit"] = "damaged";
        // Secrets keep it: one without a digest looks like a copy of the Go version.
        if (drawn.name != "Secret" && random_.chance(0.2))
          kube::ensure_object(metadata, "annotations").erase(api::annotations::reflected_digest);
        if (random_.chance(0.3)) return;
        if (drawn.name == "Service")
          next["spec"].as_object()["selector"] = json::object{{"app", "theirs"}};
        else if (drawn.name == "Ingress")
          next["spec"].as_object()["rules"] = json::array{json::object{{"host", "theirs.example"}}};
        else if (drawn.name == "EndpointSlice")
          kube::ensure_object(next["spec"].as_object(), "template")["endpoints"] = draw_endpoints(random_, false);
        else if (drawn.name == widgets().resource.kind)
          kube::ensure_object(next, "spec")["size"] = 7;
        else if (random_.chance(0.5))
          next["data"] = json::object{{"answer", "eA=="}};
        else
          kube::ensure_object(next, "data")["theirs"] = "eA==";
      },
      reflection_stranger);
}

void ReflectionWorld::delete_copy() {
  Cluster& provider = any_provider();
  const core::reflection::ReflectedKind& kind = kind_of(any_kind());
  const Tree copy = any_copy(provider, kind);
  if (!copy) return;
  note("the copy " + std::string(name_of(*copy)) + " is deleted in " + provider.id);
  (void)provider.server.remove(kind.copies(), key_of(*copy), {}, reflection_stranger);
}

void ReflectionWorld::hold_copy() {
  Cluster& provider = any_provider();
  const core::reflection::ReflectedKind& kind = kind_of(any_kind());
  const Tree copy = any_copy(provider, kind);
  if (!copy || is_deleting(*copy)) return;
  note("the copy " + std::string(name_of(*copy)) + " is held by a finalizer in " + provider.id);
  (void)provider.server.update(
      {kind.copies(), key_of(*copy)},
      [](json::object& next) {
        next["metadata"].as_object()["finalizers"] = json::array{json::value("sim.liqo/hold")};
      },
      reflection_stranger);
  if (random_.chance(0.5)) (void)provider.server.remove(kind.copies(), key_of(*copy), {}, reflection_stranger);
  group_.spawn(release(&provider, &kind, key_of(*copy)));
}

asio::awaitable<void> ReflectionWorld::release(Cluster* provider, const core::reflection::ReflectedKind* kind,
                                               kube::ObjectKey key) {
  co_await simulator_.clock().sleep(std::chrono::milliseconds(random_.between(100, 60'000)));
  (void)provider->server.update(
      {kind->copies(), key}, [](json::object& next) { next["metadata"].as_object().erase("finalizers"); },
      reflection_stranger);
}

void ReflectionWorld::take_name() {
  Cluster& provider = any_provider();
  const DrawnKind& drawn = any_kind();
  const kube::Resource& resource = kind_of(drawn).copies();
  const ObjectKey key{twin_namespace(home_.id), any_name(drawn)};
  // Half of the strangers replace a copy.
  if (random_.chance(0.5)) (void)provider.server.remove(resource, key, {}, reflection_stranger);
  json::object object = draw_other_content(drawn.name);
  object["metadata"] = json::object{{"name", key.name}, {"namespace", key.ns}};
  if (provider.server.create(resource, std::move(object), reflection_stranger))
    note("a stranger takes the name " + key.name + " in " + provider.id);
}

void ReflectionWorld::free_name() {
  Cluster& provider = any_provider();
  const kube::Resource& resource = kind_of(any_kind()).copies();
  std::vector<Tree> theirs;
  for (const Tree& object : provider.server.list(resource, twin_namespace(home_.id)))
    if (!has_our_labels(*object) && name_of(*object) != api::root_ca_name) theirs.push_back(object);
  const Tree object = draw_tree(random_, theirs);
  if (!object) return;
  note("a stranger gives the name " + std::string(name_of(*object)) + " free in " + provider.id);
  (void)provider.server.remove(resource, key_of(*object), {}, reflection_stranger);
}

void ReflectionWorld::forge_copy() {
  Cluster& provider = any_provider();
  const DrawnKind& drawn = any_kind();
  const std::string name = any_name(drawn);
  json::object object = draw_other_content(drawn.name);
  object["metadata"] = json::object{{"name", name},
                                    {"namespace", twin_namespace(home_.id)},
                                    {"labels", json::object{{api::labels::reflection_origin, home_.id},
                                                            {api::labels::reflection_destination, provider.id}}},
                                    {"annotations", json::object{{api::annotations::reflected_digest, "forged"}}}};
  if (drawn.name == "EndpointSlice")
    object["metadata"].as_object()["labels"].as_object()[api::labels::endpoint_slice_manager] =
        api::labels::endpoint_slice_manager_liqo;
  if (provider.server.create(kind_of(drawn).copies(), std::move(object), reflection_stranger))
    note("a stranger makes what looks like the copy " + name + " in " + provider.id);
}

// ---- Failures ----------------------------------------------------------------------------------------------------

void ReflectionWorld::restart_daemon() {
  auto chosen = daemons_.begin();
  std::advance(chosen, random_.between(0, static_cast<std::int64_t>(daemons_.size()) - 1));
  if (!chosen->second->is_running()) return;
  const bool killed = random_.chance(0.6);
  group_.spawn(
      restart(chosen->first, killed, std::chrono::milliseconds(random_.chance(0.5) ? 0 : random_.between(0, 30'000))));
}

asio::awaitable<void> ReflectionWorld::restart(std::string name, bool killed, kube::Duration downtime) {
  ProcessBox& daemon = *daemons_.at(name);
  if (!daemon.is_running()) co_return;
  note((killed ? "kill liqod " : "stop liqod ") + name);
  const bool is_at_home = daemon.cluster() == home_.id;
  if (is_at_home)
    note_end();
  else
    times_.theirs.push_back(simulator_.clock().now());
  co_await daemon.stop(killed);
  co_await simulator_.clock().sleep(downtime);
  note("start liqod " + name);
  if (is_at_home) times_.starts.push_back(simulator_.clock().now());
  daemon.start();
}

void ReflectionWorld::break_link() {
  const auto all = links();
  SimLink* link = all[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(all.size()) - 1))];
  note("partition of a link");
  group_.spawn(outage({link}, false, std::chrono::milliseconds(random_.between(1000, 60'000))));
}

void ReflectionWorld::restart_api_server() {
  // The first link of a daemon leads to its own cluster.
  const auto place = static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(providers_.size())));
  const std::string& restarted = place == 0 ? home_.id : providers_[place - 1]->id;
  std::vector<SimLink*> to_it;
  for (auto& [name, daemon] : daemons_)
    if (daemon->cluster() == home_.id)
      to_it.push_back(daemon->links()[place]);
    else if (name == restarted)
      to_it.push_back(daemon->links()[0]);
  note("the API server of " + restarted + " restarts");
  group_.spawn(outage(std::move(to_it), true, std::chrono::milliseconds(random_.between(0, 15'000))));
}

asio::awaitable<void> ReflectionWorld::outage(std::vector<SimLink*> links, bool refuses, kube::Duration length) {
  for (SimLink* link : links) refuses ? link->refuse() : link->partition();
  times_.outages.emplace_back(simulator_.clock().now(), simulator_.clock().now() + length);
  if (pairs_) note_end();
  co_await simulator_.clock().sleep(length);
  if (pairs_) note_end();
  for (SimLink* link : links) link->heal();
}

void ReflectionWorld::cut_watches() {
  note("all watches break");
  for (SimLink* link : links()) link->cut_watches();
}

void ReflectionWorld::compact() {
  note("all servers compact");
  home_.server.store().compact(home_.server.store().version());
  for (const auto& provider : providers_) provider->server.store().compact(provider->server.store().version());
}

}  // namespace liqo::sim
