// Invariants over the merged histories of the simulated servers.
#include <algorithm>
#include <set>
#include <tuple>

#include "invariants.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::sim {

using kube::testing::ChangeType;
using kube::testing::FakeChange;

namespace {

/// One change and where it happened.
struct Step {
  const FakeChange* change;
  bool at_home;
  const std::string* cluster;
};

bool is_by_daemon(const FakeChange& change) { return change.actor.starts_with("liqod-"); }

bool is_running(const json::object& pod) {
  for (const json::value& status : kube::array_at(pod, {"status", "containerStatuses"}))
    if (!kube::object_at(status, {"state", "running"}).empty()) return true;
  return false;
}

bool has_ended_container(const json::object& pod) {
  for (const json::value& status : kube::array_at(pod, {"status", "containerStatuses"}))
    if (kube::find(status, {"state", "terminated"}) || kube::find(status, {"lastState", "terminated"})) return true;
  return false;
}

class HistoryCheck {
 public:
  explicit HistoryCheck(World& world) : world_(world) {}
  std::vector<Violation> run();

 private:
  /// What is known of one pod at home, by its UID.
  struct Local {
    std::string name;
    bool exists = false, deleting = false, always = false;
    std::string phase;
    std::set<std::string> active;  ///< remote pods that are neither ended nor gone, by UID
    std::set<std::string> created;
    std::string finished_phase;  ///< of a remote pod that ended by itself
    bool any_end = false;        ///< a remote pod ended, also by being deleted
  };
  void see_local(const FakeChange& change);
  void see_remote(const FakeChange& change, const std::string& cluster);
  /// Whether the ShadowPod of a remote pod was gone when the pod was created.
  bool came_late(const FakeChange& change, const std::string& cluster);
  void see_shadow(const FakeChange& change, const std::string& cluster);
  void violate(std::string invariant, const Local& local, std::string what, const FakeChange& change);

  World& world_;
  std::map<std::string, Local> locals_;
  std::vector<Violation> violations_;
};

void HistoryCheck::violate(std::string invariant, const Local& local, std::string what, const FakeChange& change) {
  violations_.push_back({std::move(invariant),
                         local.name + " at " + time_text(change.at) + " by " + change.actor + ": " + std::move(what)});
}

void HistoryCheck::see_local(const FakeChange& change) {
  const json::object& pod = *change.after;
  Local& local = locals_[std::string(uid_of(pod))];
  local.name = name_of(pod);
  local.always = restarts_always(pod);
  if (change.type == ChangeType::deleted) {
    if (is_by_daemon(change) && !is_deleting(*change.before))
      violate("no pod lost", local, "a pod that nobody deleted was removed", change);
    local.exists = false;
    return;
  }
  local.exists = true;
  local.deleting = is_deleting(pod);
  if (is_by_daemon(change) && local.deleting && change.before && !is_deleting(*change.before))
    violate("no pod lost", local, "a pod was deleted", change);
  const std::string phase(phase_of(pod));
  if (is_final(local.phase) && phase != local.phase)
    violate("a final phase stands", local, local.phase + " became " + phase, change);
  if (is_final(phase) && !is_final(local.phase) && is_by_daemon(change) && !local.deleting) {
    const int losses = world_.losses[std::string(uid_of(pod))];
    if (local.always ? local.finished_phase != phase : !local.any_end && losses == 0)
      violate("no pod lost", local,
              "it became " + phase +
                  " although nothing of it had ended: " + std::string(kube::string_at(pod, {"status", "reason"})) +
                  " " + std::string(kube::string_at(pod, {"status", "message"})),
              change);
  }
  local.phase = phase;
}

bool HistoryCheck::came_late(const FakeChange& change, const std::string& cluster) {
  const json::array& owners = kube::array_at(*change.after, {"metadata", "ownerReferences"});
  const std::string_view owner = owners.empty() ? "" : kube::string_at(owners[0], {"uid"});
  const auto& log = world_.cluster(cluster).server.store().table(api::kinds::shadow_pods).log;
  return std::ranges::any_of(log, [&](const FakeChange& other) {
    return other.type == ChangeType::deleted && other.version < change.version && uid_of(*other.after) == owner;
  });
}

void HistoryCheck::see_remote(const FakeChange& change, const std::string& cluster) {
  const json::object& pod = *change.after;
  const std::string local_uid(local_uid_of(pod));
  if (local_uid.empty()) return;
  Local& local = locals_[local_uid];
  const std::string uid(uid_of(pod));
  // If the daemon removes its finalizer from a pod that another client deletes, the daemon has not deleted it.
  const bool was_deleting = change.before && is_deleting(*change.before);
  // A pod that is deleted at home ends within the grace period that was asked for there.
  const bool is_wanted = local.exists && !local.deleting;
  if (is_by_daemon(change) && is_wanted && !was_deleting && (change.type == ChangeType::deleted || is_deleting(pod)))
    violate("no pod lost", local, "its remote pod was deleted in " + cluster, change);
  if (change.type == ChangeType::deleted) {
    local.active.erase(uid);
    return;
  }
  if (change.type == ChangeType::added) {
    const int losses = world_.losses[local_uid];
    // A POST may arrive after its ShadowPod is gone: the garbage collector removes the pod before it can start
    // (docs/known-gaps.md). If it does start, it counts.
    if (!came_late(change, cluster)) local.created.insert(uid);
    local.active.insert(uid);
    if (local.active.size() > 1)
      violate("no pod doubled", local, "two remote pods at a time, now in " + cluster, change);
    if (static_cast<int>(local.created.size()) > 1 + losses)
      violate("no pod doubled", local,
              std::to_string(local.created.size()) + " remote pods, and " + std::to_string(losses) + " were taken away",
              change);
    if (!local.finished_phase.empty() && (!local.always || losses == 0))
      violate("no pod run again", local, "it had ended (" + local.finished_phase + ") and is made again in " + cluster,
              change);
  }
  if (is_running(pod)) local.created.insert(uid);
  if (is_final(phase_of(pod))) {
    local.active.erase(uid);
    local.any_end = true;
    if (!is_deleting(pod)) local.finished_phase = phase_of(pod);
  }
}

void HistoryCheck::see_shadow(const FakeChange& change, const std::string& cluster) {
  const std::string uid(local_uid_of(*change.after));
  const bool deletes = change.type == ChangeType::deleted ||
                       (is_deleting(*change.after) && change.before && !is_deleting(*change.before));
  if (!deletes || change.actor != "liqod-" + world_.home.id) return;
  const Local& local = locals_[uid];
  if (local.exists && !local.deleting && !is_final(local.phase))
    violate("nothing wanted is deleted", local, "its ShadowPod was deleted in " + cluster, change);
}

std::vector<Violation> HistoryCheck::run() {
  std::vector<Step> steps;
  const auto take = [&steps](Cluster& cluster, const kube::Resource& kind, bool at_home) {
    for (const FakeChange& change : cluster.server.store().table(kind).log)
      steps.push_back({&change, at_home, &cluster.id});
  };
  take(world_.home, kube::resources::pods, true);
  for (auto& [name, provider] : world_.providers) {
    take(*provider, kube::resources::pods, false);
    take(*provider, api::kinds::shadow_pods, false);
  }
  // Of changes at the same instant those at home come first: a daemon can only act on an earlier state.
  std::ranges::sort(steps, [](const Step& a, const Step& b) {
    return std::tuple(a.change->at, !a.at_home, a.change->version, *a.cluster) <
           std::tuple(b.change->at, !b.at_home, b.change->version, *b.cluster);
  });
  for (const Step& step : steps) {
    if (step.at_home)
      see_local(*step.change);
    else if (step.change->kind->plural == "pods")
      see_remote(*step.change, *step.cluster);
    else
      see_shadow(*step.change, *step.cluster);
  }
  return std::move(violations_);
}

/// Checks the pods that kubelets started, even if no status ever showed it: a pod with restartPolicy Never at most
/// once, one with OnFailure not again in another pod when one of its containers has ended.
void check_runs(World& world, std::vector<Violation>& violations) {
  struct Started {
    const kube::testing::FakeRun* run;
    std::string cluster;
  };
  std::map<std::string, std::vector<Started>> by_local;
  std::map<std::string, kube::TimePoint> ended;  // by UID of the remote pod: when its first container ended
  for (auto& [name, provider] : world.providers) {
    for (const kube::testing::FakeRun& run : provider->kubelet.runs())
      if (!restarts_always(*run.pod)) by_local[std::string(local_uid_of(*run.pod))].push_back({&run, name});
    for (const FakeChange& change : provider->server.store().table(kube::resources::pods).log)
      if (has_ended_container(*change.after)) ended.emplace(std::string(uid_of(*change.after)), change.at);
  }
  for (auto& [local_uid, runs] : by_local) {
    if (local_uid.empty()) continue;
    std::ranges::sort(runs, {}, [](const Started& started) { return started.run->at; });
    for (std::size_t i = 1; i < runs.size(); ++i) {
      const json::object& pod = *runs[i].run->pod;
      const bool never = kube::string_at(pod, {"spec", "restartPolicy"}) == "Never";
      const auto ended_before = [&](const Started& earlier) {
        const auto found = ended.find(std::string(uid_of(*earlier.run->pod)));
        return found != ended.end() && found->second <= runs[i].run->at;
      };
      if (never || std::any_of(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(i), ended_before))
        violations.push_back({"no pod run again", std::string(name_of(pod)) + " is started a second time in " +
                                                      runs[i].cluster + (never ? ", restartPolicy Never" : "")});
    }
  }
}

}  // namespace

std::vector<Violation> check_history(World& world) {
  std::vector<Violation> violations = HistoryCheck(world).run();
  check_runs(world, violations);
  return violations;
}

std::vector<Violation> check_namespaces(World& world) {
  std::vector<Violation> found;
  const auto withdrawn = [&](Cluster& cluster, const FakeChange& change) {
    if (change.actor.starts_with("liqod-"))
      found.push_back({"no namespace withdrawn that is wanted",
                       change.actor + " took back " + change.key.text() + " in " + cluster.id});
  };
  for (auto& [id, provider] : world.providers)
    for (const FakeChange& change : provider->server.store().table(kube::resources::namespaces).log)
      if (change.type == ChangeType::deleted || is_deleting(*change.after)) withdrawn(*provider, change);
  const auto is_asked_for = [](const json::object& map) {
    return kube::find(map, {"spec", "desiredMapping", home_namespace}) != nullptr;
  };
  const auto look = [&](Cluster& cluster) {
    for (const FakeChange& change : cluster.server.store().table(api::kinds::namespace_maps).log)
      if (change.before && is_asked_for(*change.before) &&
          (change.type == ChangeType::deleted || !is_asked_for(*change.after)))
        withdrawn(cluster, change);
  };
  look(world.home);
  for (auto& [id, provider] : world.providers) look(*provider);
  return found;
}

}  // namespace liqo::sim
