#include "fake_volumes.hpp"

#include "core/storage/volume.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using kube::ObjectKey;
using kube::testing::FakeChange;
namespace kinds = api::kinds;

namespace {

constexpr std::string_view actor = "volume-controller", liqo_class = "liqo";

std::string_view requested(const json::object& claim) {
  return kube::string_at(claim, {"spec", "resources", "requests", "storage"});
}

bool is_bound(const json::object& claim) { return kube::string_at(claim, {"status", "phase"}) == "Bound"; }

}  // namespace

FakeVolumes::FakeVolumes(kube::testing::Simulator& simulator, Cluster& cluster, std::uint64_t seed)
    : simulator_(simulator), server_(cluster.server), random_(seed) {
  server_.serve(kinds::volumes);
  server_.store().on_change([this](const FakeChange& change) { seen(change); });
}

void FakeVolumes::seen(const FakeChange& change) {
  if (change.kind->plural == kinds::claims.plural) {
    if (change.type == kube::testing::ChangeType::deleted)
      simulator_.clock().call_in(10ms, [this, uid = std::string(uid_of(*change.after))] { release(uid); });
    else
      attend_later(change.key);
  }
  if (change.kind->plural == kinds::volumes.plural && change.type == kube::testing::ChangeType::added)
    attend_later({std::string(kube::string_at(*change.after, {"spec", "claimRef", "namespace"})),
                  std::string(kube::string_at(*change.after, {"spec", "claimRef", "name"}))});
}

void FakeVolumes::attend_later(const ObjectKey& claim) {
  const kube::Duration pause(random_.between(kube::Duration(10ms).count(), kube::Duration(4s).count()));
  simulator_.clock().call_in(pause, [this, claim] { attend(claim); });
}

void FakeVolumes::attend(const ObjectKey& key) {
  const Tree claim = server_.get(kinds::claims, key);
  if (!claim || is_deleting(*claim)) return;
  const std::string uid(uid_of(*claim));
  if (kube::string_at(*claim, {"spec", "storageClassName"}) == liqo_class) {
    const std::string volume = core::storage::volume_name(kube::Object(*claim));
    if (!is_bound(*claim) && server_.get(kinds::volumes, {"", volume})) bind(*claim, volume);
    return;
  }
  const std::string volume = "real-" + uid;
  const Tree there = server_.get(kinds::volumes, {"", volume});
  if (!there) {
    // Some provisioners give more than a claim requests.
    const std::string size = random_.chance(0.1) ? "9Gi" : std::string(requested(*claim));
    (void)server_.create(
        kinds::volumes,
        {{"metadata", json::object{{"name", volume}}},
         {"spec", json::object{{"hostPath", json::object{{"path", "/volumes/" + uid}}},
                               {"accessModes", claim->at("spec").at("accessModes")},
                               {"capacity", json::object{{"storage", size}}},
                               {"persistentVolumeReclaimPolicy", "Delete"},
                               {"claimRef", json::object{{"namespace", key.ns}, {"name", key.name}, {"uid", uid}}}}}},
        actor);
    bind(*claim, volume);
  } else if (const std::string_view size = kube::string_at(*there, {"spec", "capacity", "storage"});
             size < requested(*claim)) {
    // Sizes can be compared as texts: all have one digit.
    const std::string larger(requested(*claim));
    (void)server_.update(
        {kinds::volumes, {"", volume}},
        [&](json::object& next) { next["spec"].as_object()["capacity"] = json::object{{"storage", larger}}; }, actor);
    bind(*claim, volume);
  }
}

void FakeVolumes::bind(const json::object& claim, const std::string& volume) {
  const ObjectKey key{std::string(kube::string_at(claim, {"metadata", "namespace"})), std::string(name_of(claim))};
  const Tree there = server_.get(kinds::volumes, {"", volume});
  (void)server_.update(
      {kinds::claims, key},
      [&](json::object& next) {
        next["spec"].as_object()["volumeName"] = volume;
        kube::ensure_object(next["metadata"].as_object(), "annotations")["pv.kubernetes.io/bind-completed"] = "yes";
      },
      actor);
  (void)server_.update(
      {kinds::claims, key, "status"},
      [&](json::object& next) {
        next["status"] = json::object{{"phase", "Bound"},
                                      {"capacity", there->at("spec").at("capacity")},
                                      {"accessModes", there->at("spec").at("accessModes")}};
      },
      actor);
  (void)server_.update(
      {kinds::volumes, {"", volume}, "status"},
      [](json::object& next) { next["status"] = json::object{{"phase", "Bound"}}; }, actor);
}

void FakeVolumes::release(std::string_view claim_uid) {
  for (const Tree& volume : server_.list(kinds::volumes)) {
    if (kube::string_at(*volume, {"spec", "claimRef", "uid"}) != claim_uid) continue;
    const ObjectKey key{"", std::string(name_of(*volume))};
    if (key.name.starts_with("real-"))
      (void)server_.remove(kinds::volumes, key, {}, actor);
    else
      (void)server_.update(
          {kinds::volumes, key, "status"},
          [](json::object& next) { next["status"] = json::object{{"phase", "Released"}}; }, actor);
  }
}

}  // namespace liqo::sim
