// The provider's half of endpoints in the simulation of reflection: the EndpointSlices that its liqod makes from
// ShadowEndpointSlices.
#include <algorithm>

#include "core/reflection/endpoint_slice_plan.hpp"
#include "faults.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "reflection_states.hpp"
#include "reflection_world.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using kube::Object;
using kube::ObjectKey;
using kube::TimePoint;
using kube::testing::ChangeType;
using kube::testing::FakeChange;
namespace kinds = api::kinds;
namespace resources = kube::resources;

namespace {

constexpr std::string_view own_namespace = "default";
/// The greatest age of the rules that the provider's liqod has seen when it writes.
constexpr kube::Duration max_sight_of_rules = 3min;

bool is_shadows(const json::object& slice) {
  const auto owner = Object(slice).controller();
  return owner && owner->kind == kinds::shadow_endpoint_slices.kind;
}

bool has_our_mark(const json::object& slice) {
  return kube::string_at(slice, {"metadata", "labels", api::labels::managed_by}) ==
         api::labels::managed_by_shadow_endpoint_slice;
}

/// A Service of the provider's own.
json::object own_service(const std::string& name, std::string_view address) {
  return {{"metadata", json::object{{"name", name}, {"namespace", own_namespace}}},
          {"spec", json::object{{"clusterIP", address}, {"clusterIPs", json::array{json::value(address)}}}}};
}

std::vector<std::string> addresses_of(const json::array& endpoints) {
  std::vector<std::string> found;
  for (const json::value& endpoint : endpoints)
    for (const json::value& address : kube::array_at(endpoint, {"addresses"}))
      if (address.is_string()) found.emplace_back(std::string_view(address.get_string()));
  return found;
}

/// Whether a tenant namespace allows the consumer's endpoints to have the address.
bool declares(const json::object& tenant, const core::IpAddress& address) {
  const auto policy =
      core::read_pod_policy(kube::string_at(tenant, {"metadata", "annotations", api::annotations::pod_policy}));
  return policy && policy->endpoint_ranges &&
         std::ranges::any_of(*policy->endpoint_ranges,
                             [&](const core::Cidr& range) { return range.contains(address); });
}

core::OwnAddresses own_addresses(Cluster& provider) {
  core::OwnAddresses own(std::vector<core::Cidr>{});
  const auto take = [&](const kube::Resource& kind, auto read) {
    for (const Tree& tree : provider.server.list(kind)) {
      const Object object(*tree);
      (void)own.set(kind.plural, object.key(), read(&object));
    }
  };
  for (const Tree& tree : provider.server.list(resources::pods))
    if (const Object pod(*tree); pod.label(api::labels::local_pod) != "true")
      (void)own.set("pods", pod.key(), core::HeldAddresses::of_pod(&pod));
  take(resources::services, core::HeldAddresses::of_service);
  take(resources::nodes, core::HeldAddresses::of_node);
  return own;
}

class EndpointCheck {
 public:
  EndpointCheck(Cluster& home, Cluster& provider, const std::vector<TimePoint>& ends, std::vector<Violation>& found)
      : provider_(provider),
        ends_(ends),
        found_(found),
        twin_(twin_namespace(home.id)),
        actor_("liqod-" + provider.id) {
    shadows_ = read_states(provider, kinds::shadow_endpoint_slices, twin_);
    services_ = read_states(provider, resources::services, own_namespace);
    tenants_ = read_states(provider, resources::namespaces, "")[tenant_namespace(home.id)];
  }

  void run() {
    for (const FakeChange& change : provider_.server.store().table(kinds::endpoint_slices).log) {
      if (change.key.ns != twin_) continue;
      const std::string uid(uid_of(*change.after));
      const bool is_ours = change.actor == actor_;
      if (change.type == ChangeType::added && !is_ours && !has_our_mark(*change.after)) strangers_[uid] = change.after;
      if (const auto theirs = strangers_.find(uid); theirs != strangers_.end())
        see_stranger(change, uid, theirs->second, is_ours);
      else if (is_ours && change.type != ChangeType::deleted && !is_deleting(*change.after))
        see_slice(change);
    }
    for (const auto& [uid, change] : changed_) violate(change, "somebody else's stays changed");
  }

 private:
  void violate(const FakeChange& change, std::string what) {
    found_.push_back({"the provider's endpoints are as it allows",
                      "EndpointSlice " + change.key.name + " in " + provider_.id + " at " + time_text(change.at) +
                          ": " + std::move(what) + ": " + json::serialize(*change.after)});
  }

  static json::object contents_of(json::object object) {
    for (const char* field : {"resourceVersion", "generation"}) object["metadata"].as_object().erase(field);
    return object;
  }

  void see_stranger(const FakeChange& change, const std::string& uid, Tree& theirs, bool is_ours) {
    const auto changed = changed_.find(uid);
    if (changed != changed_.end() && change.at - changed->second.at > max_give_back)
      violate(changed->second, "somebody else's was changed for long");
    if (change.type == ChangeType::deleted) {
      if (is_ours) violate(change, "somebody else's is deleted");
      changed_.erase(uid);
    } else if (!is_ours) {
      theirs = change.after;
    } else if (contents_of(*change.after) == contents_of(*theirs)) {
      changed_.erase(uid);
    } else if (std::ranges::any_of(ends_, [&](TimePoint end) {
                 return end - change.at < max_give_back && change.at - end < max_give_back;
               })) {
      changed_.erase(uid);
      strangers_.erase(uid);
    } else {
      changed_.emplace(uid, change);
    }
  }

  /// Checks that each written address was requested by the consumer and allowed by the provider a short time ago.
  void see_slice(const FakeChange& change) {
    const TimePoint from = change.at - max_sight_of_rules;
    const auto ever = [&](const std::vector<State>& states, const auto& holds) {
      return std::ranges::any_of(
          states, [&](const State& state) { return overlaps(state, from, change.at) && holds(state.tree); });
    };
    for (const std::string& text : addresses_of(kube::array_at(*change.after, {"endpoints"}))) {
      const auto address = core::IpAddress::parse(text);
      if (!address) return violate(change, text + " is no address");
      if (!ever(shadows_[change.key.name], [&](const Tree& shadow) {
            if (!shadow) return false;
            const auto said = addresses_of(kube::array_at(*shadow, {"spec", "template", "endpoints"}));
            return std::ranges::find(said, text) != said.end();
          }))
        violate(change, text + " was not said");
      if (!ever(tenants_, [&](const Tree& tenant) { return tenant && declares(*tenant, *address); }))
        violate(change, text + " was not declared");
      for (const auto& [name, states] : services_)
        if (!ever(states, [&](const Tree& own) {
              return !own || kube::string_at(*own, {"spec", "clusterIP"}) != address->text();
            }))
          violate(change, text + " is that of Service " + name);
    }
  }

  Cluster& provider_;
  const std::vector<TimePoint>& ends_;
  std::vector<Violation>& found_;
  std::string twin_, actor_;
  std::map<std::string, std::vector<State>> shadows_, services_;
  std::vector<State> tenants_;
  std::map<std::string, Tree> strangers_;      ///< as their owners have made them, by UID
  std::map<std::string, FakeChange> changed_;  ///< those that are not so, since when
};

}  // namespace

void ReflectionWorld::add_consumer(Cluster& provider) {
  provider.server.serve(kinds::service_cidrs);
  declare(provider, R"(["10.1.0.0/16", "fd00::/16"])");
  add_peer(provider);
}

void ReflectionWorld::declare(Cluster& provider, std::string_view ranges) {
  (void)provider.server.update(
      {resources::namespaces, {"", tenant_namespace(home_.id)}},
      [&](json::object& next) {
        kube::ensure_object(next["metadata"].as_object(), "annotations")[api::annotations::pod_policy] =
            R"({"endpointCIDRs": )" + std::string(ranges) + "}";
      },
      reflection_stranger);
}

void ReflectionWorld::add_peer(Cluster& provider) {
  (void)provider.server.create(
      kinds::foreign_clusters,
      {{"metadata", json::object{{"name", home_.id}}}, {"spec", json::object{{"clusterID", home_.id}}}},
      reflection_stranger);
}

void ReflectionWorld::change_endpoint_rules() {
  Cluster& provider = any_provider();
  if (random_.chance(0.4)) {
    constexpr std::string_view ranges[] = {R"(["10.1.0.0/16", "fd00::/16"])", R"(["10.1.0.0/25"])", "[]"};
    const std::string_view drawn = ranges[random_.between(0, 2)];
    note(provider.id + " lets endpoints be in " + std::string(drawn));
    return declare(provider, drawn);
  }
  if (random_.chance(0.5)) {
    note(provider.id + " loses sight of its consumer");
    (void)provider.server.remove(kinds::foreign_clusters, {"", home_.id}, {}, reflection_stranger);
    if (random_.chance(0.7)) add_peer(provider);
    return;
  }
  const std::string name = "own-" + std::to_string(random_.between(0, 2));
  if (provider.server.remove(resources::services, {std::string(own_namespace), name}, {}, reflection_stranger))
    return note(provider.id + " has no Service " + name + " any more");
  const Tree shadow = any_copy(provider, *core::reflection::find_reflected_kind("EndpointSlice"));
  const auto said =
      shadow ? addresses_of(kube::array_at(*shadow, {"spec", "template", "endpoints"})) : std::vector<std::string>();
  if (said.empty()) return;
  note(provider.id + " has itself " + said[0]);
  (void)provider.server.create(resources::services, own_service(name, said[0]), reflection_stranger);
}

void ReflectionWorld::meddle_with_endpoints() {
  Cluster& provider = any_provider();
  const std::string twin = twin_namespace(home_.id);
  const Tree slice = draw_tree(random_, provider.server.list(kinds::endpoint_slices, twin));
  const std::string name = slice ? std::string(name_of(*slice)) : "";
  if (!slice || !is_shadows(*slice) || random_.chance(0.3)) {
    // A stranger takes a name, or gives it back.
    const ObjectKey key{twin, "slice-" + std::to_string(random_.between(0, 3))};
    const Tree there = provider.server.get(kinds::endpoint_slices, key);
    if (there && (!is_shadows(*there) || random_.chance(0.5))) {
      note("the EndpointSlice " + key.name + " is deleted in " + provider.id);
      (void)provider.server.remove(kinds::endpoint_slices, key, {}, reflection_stranger);
      if (!is_shadows(*there)) return;
    }
    // The stranger's object has no field with which an apply would conflict.
    json::object theirs{{"metadata", json::object{{"name", key.name}, {"namespace", twin}}}, {"theirs", "x"}};
    if (provider.server.create(kinds::endpoint_slices, std::move(theirs), reflection_stranger))
      note("a stranger takes the name of the EndpointSlice " + key.name + " in " + provider.id);
    return;
  }
  note("the EndpointSlice " + name + " is damaged in " + provider.id);
  const bool orphans = random_.chance(0.2);
  (void)provider.server.update(
      {kinds::endpoint_slices, key_of(*slice)},
      [&](json::object& next) {
        json::object& metadata = next["metadata"].as_object();
        if (orphans) metadata.erase("ownerReferences");
        if (random_.chance(0.3)) kube::ensure_object(metadata, "labels")["edit"] = "damaged";
        if (random_.chance(0.5))
          next["endpoints"] = json::array{json::object{{"addresses", json::array{"10.2.0.9"}}}};
        else if (random_.chance(0.5))
          next["ports"] = json::array{};
      },
      reflection_stranger);
}

std::string ReflectionWorld::compare_endpoints(Cluster& provider) {
  const std::string twin = twin_namespace(home_.id), tenant = tenant_namespace(home_.id), where = " in " + provider.id;
  const auto policy = core::read_pod_policy(kube::string_at(*provider.server.get(resources::namespaces, {"", tenant}),
                                                            {"metadata", "annotations", api::annotations::pod_policy}));
  const Tree tree = provider.server.get(kinds::foreign_clusters, {"", home_.id});
  const std::optional<Object> peer = tree ? std::optional<Object>(*tree) : std::nullopt;
  const auto addresses = core::ConsumerAddresses::of(
      home_.id, tenant, {.policy = policy, .foreign_cluster = peer ? &*peer : nullptr, .configurations = {}});
  const core::OwnAddresses own = own_addresses(provider);
  const core::reflection::EndpointSurroundings around{
      .consumer = home_.id,
      .addresses = addresses,
      .policy = *policy,
      .own = own,
      .reachable = core::reflection::is_reachable(peer ? &*peer : nullptr),
      .map_direct = {},
      .provider = provider.id};
  for (const Tree& shadow : provider.server.list(kinds::shadow_endpoint_slices, twin)) {
    const std::string title = "EndpointSlice " + std::string(name_of(*shadow));
    const core::reflection::EndpointSlicePlan plan =
        core::reflection::plan_endpoint_slice(Object(*shadow), nullptr, around);
    const Tree there = provider.server.get(kinds::endpoint_slices, key_of(*shadow));
    // An object of another owner has the name.
    if (there && !is_shadows(*there) && !has_our_mark(*there)) continue;
    const auto* due = std::get_if<core::reflection::endpoint_slice_action::Apply>(&plan.action);
    if (!due && there) return title + " is there" + where + ", though " + plan.refusal;
    if (!due) continue;
    if (!there) return title + " is missing" + where;
    if (is_deleting(*there)) return title + " is being deleted" + where;
    const Object have(*there);
    const auto agrees = [&](const json::object& theirs, const json::object& wanted) {
      return std::ranges::all_of(wanted, [&](const auto& entry) {
        const json::value* value = theirs.if_contains(entry.key());
        return value && *value == entry.value();
      });
    };
    if (!agrees(*there, {{"addressType", due->wanted.tree().at("addressType")},
                         {"endpoints", due->wanted.tree().at("endpoints")},
                         {"ports", due->wanted.tree().at("ports")}}) ||
        !agrees(have.labels(), due->wanted.labels()) || !agrees(have.annotations(), due->wanted.annotations()) ||
        have.label(api::labels::service_name) != due->wanted.label(api::labels::service_name) || !have.controller() ||
        have.controller()->uid != uid_of(*shadow))
      return title + " differs" + where + ": " + have.text() + ", wanted " + due->wanted.text();
  }
  for (const Tree& slice : provider.server.list(kinds::endpoint_slices, twin))
    if ((is_shadows(*slice) || has_our_mark(*slice)) &&
        !provider.server.get(kinds::shadow_endpoint_slices, key_of(*slice)))
      return "EndpointSlice " + std::string(name_of(*slice)) + " is left over" + where;
  return "";
}

void check_endpoint_history(Cluster& home, Cluster& provider, const std::vector<TimePoint>& ends,
                            std::vector<Violation>& found) {
  EndpointCheck(home, provider, ends, found).run();
}

}  // namespace liqo::sim
