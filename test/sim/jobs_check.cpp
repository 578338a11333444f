// Invariants about the end of pods at home: it comes in time, and is shown as it was.
#include <algorithm>
#include <map>
#include <set>

#include "invariants.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using kube::testing::ChangeType;
using kube::testing::FakeChange;

namespace {

/// How long a pod may be ending once there are no faults any more: the longest requested grace period, the longest
/// pause between two tries, and the time in which a new leader reads everything.
constexpr kube::Duration max_deletion = 90s + 60s + 30s;

bool is_by_daemon(const FakeChange& change) { return change.actor.starts_with("liqod-"); }

/// What the providers know about the end of the remote pods of one pod at home.
struct Remote {
  std::set<std::int64_t> exit_codes;
  std::set<std::string> phases;
};

std::map<std::string, Remote> read_remotes(World& world) {
  std::map<std::string, Remote> remotes;
  for (auto& [name, provider] : world.providers)
    for (const FakeChange& change : provider->server.store().table(kube::resources::pods).log) {
      Remote& remote = remotes[std::string(local_uid_of(*change.after))];
      remote.phases.emplace(phase_of(*change.after));
      for (const json::value& status : kube::array_at(*change.after, {"status", "containerStatuses"}))
        if (kube::find(status, {"state", "terminated"}))
          remote.exit_codes.insert(kube::int_at(status, {"state", "terminated", "exitCode"}));
    }
  return remotes;
}

void check_time(World& world, std::vector<Violation>& violations) {
  std::map<std::string, std::pair<std::string, kube::TimePoint>> deleting;
  const auto see = [&](const std::string& name, kube::TimePoint since, kube::TimePoint until) {
    const kube::Duration took = until - std::max(since, world.healed_at);
    if (took > max_deletion)
      violations.push_back({"no pod is deleted for long", name + " since " + time_text(since) + ", for " +
                                                              std::to_string(took / 1s) + " s without a fault"});
  };
  for (const FakeChange& change : world.home.server.store().table(kube::resources::pods).log) {
    const std::string uid(uid_of(*change.after));
    const auto known = deleting.find(uid);
    if (change.type == ChangeType::deleted) {
      if (known != deleting.end()) see(known->second.first, known->second.second, change.at);
      deleting.erase(uid);
    } else if (is_deleting(*change.after) && known == deleting.end()) {
      deleting.emplace(uid, std::pair(std::string(name_of(*change.after)), change.at));
    }
  }
  for (const auto& [uid, pod] : deleting) see(pod.first, pod.second, world.simulator.clock().now());
}

/// Whether a kubelet had started a pod for it by then.
bool had_run(World& world, std::string_view uid, kube::TimePoint at) {
  for (auto& [name, provider] : world.providers)
    for (const kube::testing::FakeRun& run : provider->kubelet.runs())
      if (run.at <= at && local_uid_of(*run.pod) == uid) return true;
  return false;
}

void check_ends(World& world, const std::map<std::string, Remote>& remotes, std::vector<Violation>& violations) {
  for (const FakeChange& change : world.home.server.store().table(kube::resources::pods).log) {
    if (!change.before || !is_by_daemon(change)) continue;
    const std::string_view phase = phase_of(*change.after);
    const auto invented = [&](std::string what) {
      violations.push_back(
          {"no end is invented", std::string(name_of(*change.after)) + " at " + time_text(change.at) + " " + what});
    };
    if (!is_final(phase) || is_final(phase_of(*change.before))) continue;
    const auto known = remotes.find(std::string(uid_of(*change.after)));
    if (phase == "Succeeded" && (known == remotes.end() || !known->second.phases.contains("Succeeded")))
      invented("has Succeeded, and nothing of it has");
    // An end that was shown as the remote pod ended is not invented by liqod.
    const bool is_aborted = kube::string_at(*change.after, {"status", "reason"}) == api::reasons::offloading_aborted;
    const bool has_ends = !kube::array_at(*change.after, {"status", "containerStatuses"}).empty();
    if (is_aborted && !has_ends && is_deleting(*change.after) && had_run(world, uid_of(*change.after), change.at))
      invented("is told not to have run, and had");
  }
}

}  // namespace

std::vector<Violation> check_jobs(World& world) {
  std::vector<Violation> violations;
  check_time(world, violations);
  const auto remotes = read_remotes(world);
  check_ends(world, remotes, violations);
  for (const auto& [name, job] : world.jobs.jobs()) {
    if (job.ended_by.empty()) continue;
    const auto known = remotes.find(job.ended_by);
    if (known == remotes.end() || !known->second.exit_codes.contains(FakeJobs::fatal_exit_code))
      violations.push_back({"no end is invented", "Job " + name + " has failed for an exit code of no container"});
  }
  return violations;
}

}  // namespace liqo::sim
