// Claims of class liqo in the simulation of reflection, and where their data is.
#include <algorithm>

#include "core/storage/volume.hpp"
#include "core/storage/volume_plan.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/names.hpp"
#include "reflection_states.hpp"
#include "reflection_world.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using kube::Object;
using kube::ObjectKey;
using kube::testing::ChangeType;
using kube::testing::FakeChange;
namespace kinds = api::kinds;
namespace resources = kube::resources;
namespace storage = core::storage;

namespace {

constexpr std::string_view liqo_class = "liqo", real_namespace = "liqo-storage";
constexpr int claims = 4;

std::string_view front_of(const json::object& claim) {
  return kube::string_at(claim, {"metadata", "annotations", api::annotations::virtual_claim_uid});
}

/// A claim for which the scheduler has chosen a node.
json::object draw_claim(kube::Random& random, const std::string& name, std::string_view ns) {
  constexpr std::string_view nodes[] = {"milan", "milan", "milan-2", "turin", "worker-1"};
  const json::object notes{{api::annotations::volume_provisioner, api::storage_provisioner},
                           {api::annotations::selected_node, nodes[random.between(0, 4)]}};
  const std::string size = std::to_string(random.between(1, 5)) + "Gi";
  return {{"metadata", json::object{{"name", name}, {"namespace", ns}, {"annotations", notes}}},
          {"spec", json::object{{"storageClassName", liqo_class},
                                {"accessModes", json::array{"ReadWriteOnce"}},
                                {"resources", json::object{{"requests", json::object{{"storage", size}}}}}}}};
}

/// Checks by the histories of all clusters that no data is lost and none is taken for another claim's.
class ClaimCheck {
 public:
  ClaimCheck(Cluster& home, Cluster& cluster, std::string ns, std::vector<Violation>& found)
      : cluster_(cluster), ns_(std::move(ns)), found_(found), actor_("liqod-" + home.id) {
    for (const FakeChange& change : home.server.store().table(kinds::claims).log) {
      Front& front = fronts_[std::string(uid_of(*change.after))];
      const bool ends = change.type == ChangeType::deleted || is_deleting(*change.after);
      if (ends) front.ended = std::min(front.ended, change.at);
      if (storage::had_volume(Object(*change.after))) front.had_volume = std::min(front.had_volume, change.at);
    }
  }

  void run() {
    for (const FakeChange& change : cluster_.server.store().table(kinds::claims).log) {
      if (change.key.ns != ns_ || change.actor != actor_) continue;
      const std::string uid(front_of(change.before ? *change.before : *change.after));
      const auto front = fronts_.find(uid);
      if (front == fronts_.end()) {
        violate(change, "somebody else's is written");
      } else if (change.type == ChangeType::added) {
        // The new claim would get an empty volume.
        if (front->second.had_volume <= change.at) violate(change, "a claim that had its data gets another one");
      } else if (change.type == ChangeType::deleted || (is_deleting(*change.after) && !is_deleting(*change.before))) {
        const bool is_bound = kube::string_at(*change.before, {"status", "phase"}) == "Bound";
        if (is_bound && front->second.ended > change.at)
          violate(change, "the data of a claim that is there is deleted");
      }
    }
  }

 private:
  struct Front {
    kube::TimePoint ended = kube::TimePoint::max(), had_volume = kube::TimePoint::max();
  };
  void violate(const FakeChange& change, std::string what) {
    found_.push_back({"the data of claims is kept", "PersistentVolumeClaim " + change.key.text() + " in " +
                                                        cluster_.id + " at " + time_text(change.at) + ": " +
                                                        std::move(what)});
  }

  Cluster& cluster_;
  std::string ns_;
  std::vector<Violation>& found_;
  std::string actor_;
  std::map<std::string, Front> fronts_;  ///< by UID of the claim at home
};

}  // namespace

void ReflectionWorld::add_storage_class() {
  (void)home_.server.create(kinds::storage_classes,
                            {{"metadata", json::object{{"name", liqo_class}}},
                             {"provisioner", "liqo.io/storage"},
                             {"reclaimPolicy", "Delete"}},
                            reflection_user);
}

void ReflectionWorld::add_virtual_node(const std::string& provider, const std::string& name) {
  home_.add_virtual_node(provider, name);
  (void)home_.server.update(
      {kinds::virtual_nodes, {tenant_namespace(provider), name}},
      [](json::object& next) {
        next["spec"].as_object()["storageClasses"] = json::array{json::object{{"storageClassName", "fast"}}};
      },
      reflection_user);
}

void ReflectionWorld::change_claim() {
  const ObjectKey key{std::string(home_namespace), "claim-" + std::to_string(random_.between(0, claims - 1))};
  const Tree there = home_.server.get(kinds::claims, key);
  if (!there) {
    json::object drawn = draw_claim(random_, key.name, key.ns);
    note(key.name + " is made for " +
         std::string(kube::string_at(drawn, {"metadata", "annotations", api::annotations::selected_node})));
    (void)home_.server.create(kinds::claims, std::move(drawn), reflection_user);
  } else if (random_.chance(0.5)) {
    note(key.name + " is deleted at home");
    (void)home_.server.remove(kinds::claims, key, {}, reflection_user);
  } else if (kube::string_at(*there, {"status", "phase"}) == "Bound") {
    note(key.name + " is to be larger");
    (void)home_.server.update(
        {kinds::claims, key},
        [](json::object& next) {
          next["spec"].as_object()["resources"] = json::object{{"requests", json::object{{"storage", "7Gi"}}}};
        },
        reflection_user);
  }
}

void ReflectionWorld::meddle_with_claims() {
  Cluster& provider = any_provider();
  const ObjectKey key{twin_namespace(home_.id), "claim-" + std::to_string(random_.between(0, claims - 1))};
  const Tree there = provider.server.get(kinds::claims, key);
  if (there && (front_of(*there).empty() || random_.chance(0.2))) {
    note("the claim " + key.name + " is deleted in " + provider.id);
    (void)provider.server.remove(kinds::claims, key, {}, reflection_stranger);
  } else if (!there) {
    json::object theirs = draw_claim(random_, key.name, key.ns);
    theirs["metadata"].as_object().erase("annotations");
    theirs["spec"].as_object()["storageClassName"] = "fast";
    note("a stranger takes the name of the claim " + key.name + " in " + provider.id);
    (void)provider.server.create(kinds::claims, std::move(theirs), reflection_stranger);
  }
}

std::string ReflectionWorld::compare_claims() {
  struct Place {
    Cluster* cluster;
    std::string ns;
  };
  std::vector<Place> places{{&home_, std::string(real_namespace)}};
  for (const auto& provider : providers_) places.push_back({provider.get(), twin_namespace(home_.id)});
  std::map<std::string, int> backings;  // by UID of the claim at home
  for (const Place& place : places)
    for (const Tree& backing : place.cluster->server.list(kinds::claims, place.ns)) {
      const std::string uid(front_of(*backing));
      if (uid.empty()) continue;
      const auto fronts = home_.server.list(kinds::claims, home_namespace);
      const bool is_wanted = std::ranges::any_of(fronts, [&](const Tree& claim) { return uid_of(*claim) == uid; });
      if (!is_wanted && !home_.server.get(kinds::volumes, {"", "pvc-" + uid}))
        return "claim " + std::string(name_of(*backing)) + " is left over in " + place.cluster->id;
      if (++backings[uid] > 1) return "claim " + std::string(name_of(*backing)) + " has two behind it";
    }
  for (const Tree& tree : home_.server.list(kinds::claims, home_namespace))
    if (auto difference = compare_claim(Object(*tree)); !difference.empty())
      return "PersistentVolumeClaim " + std::string(name_of(*tree)) + " " + difference;
  for (const Tree& tree : home_.server.list(kinds::volumes)) {
    const Object volume(*tree);
    if (volume.annotation(api::annotations::provisioned_by) != api::storage_provisioner) continue;
    if (storage::is_to_be_deleted(volume) || volume.is_deleting())
      return "PersistentVolume " + std::string(volume.name()) + " is left over";
  }
  return "";
}

std::string ReflectionWorld::compare_claim(const Object& claim) {
  if (claim.is_deleting()) return "is still being deleted";
  const Tree tree = home_.server.get(kinds::volumes, {"", storage::volume_name(claim)});
  // A claim that had a volume gets no new one; an Event reports that its data is lost.
  if (!tree && storage::had_volume(claim)) return "";
  const std::string_view selected = claim.annotation(api::annotations::selected_node);
  if (!tree) {
    // The claim waits for a node that is gone, or until its name is free at the provider.
    const bool is_virtual = !selected.starts_with("worker-");
    const auto nodes = home_.server.list(kinds::virtual_nodes);
    const auto node = std::ranges::find(nodes, selected, [](const Tree& one) { return name_of(*one); });
    if (is_virtual && node == nodes.end()) return "";
    if (!is_virtual) return "has no volume at home";
    const std::string cluster(kube::string_at(**node, {"spec", "clusterID"}));
    for (const auto& provider : providers_) {
      if (provider->id != cluster) continue;
      const Tree taken = provider->server.get(kinds::claims, {twin_namespace(home_.id), std::string(claim.name())});
      if (taken && front_of(*taken) != claim.uid()) return "";
    }
    return "has no volume in " + cluster;
  }
  const Object volume(*tree);
  const auto recorded = storage::backing_of(volume);
  if (!recorded) return "has a volume that records nothing: " + volume.text();
  if (claim.has_finalizer(api::finalizers::storage_provisioning)) return "is held still";
  Cluster* cluster = &home_;
  for (const auto& provider : providers_)
    if (provider->id == recorded->cluster) cluster = provider.get();
  const Tree there = cluster->server.get(kinds::claims, recorded->key);
  // The data is lost, and an Event says so.
  if (!there || uid_of(*there) != recorded->uid) return "";
  const Object backing(*there);
  if (!storage::is_backing_of(backing, claim.uid())) return "stands before somebody else's: " + backing.text();
  const Tree real =
      recorded->cluster.empty()
          ? home_.server.get(kinds::volumes, {"", std::string(kube::string_at(backing.spec(), {"volumeName"}))})
          : nullptr;
  const std::optional<Object> source = real ? std::optional<Object>(*real) : std::nullopt;
  const Object storage_class(*home_.server.get(kinds::storage_classes, {"", std::string(liqo_class)}));
  const Object wanted = storage::forge_volume(
      claim, storage_class, {.recorded = *recorded, .claim = backing, .volume = source ? &*source : nullptr});
  for (const char* field : {"capacity", "accessModes", "claimRef", "nodeAffinity", "persistentVolumeReclaimPolicy"})
    if (volume.spec().at(field) != wanted.spec().at(field))
      return "has another volume: " + volume.text() + ", wanted " + wanted.text();
  if (kube::string_at(backing.spec(), {"resources", "requests", "storage"}) !=
      kube::string_at(claim.spec(), {"resources", "requests", "storage"}))
    return "has not grown: " + backing.text();
  if (kube::object_at(claim.status(), {"capacity"}) != kube::object_at(backing.status(), {"capacity"}))
    return "shows another size than it has: " + claim.text() + ", behind it " + backing.text();
  return "";
}

void check_claim_history(Cluster& home, const std::vector<std::unique_ptr<Cluster>>& providers,
                         std::vector<Violation>& found) {
  ClaimCheck(home, home, std::string(real_namespace), found).run();
  for (const auto& provider : providers) ClaimCheck(home, *provider, twin_namespace(home.id), found).run();
}

}  // namespace liqo::sim
