#include "fake_jobs.hpp"

#include "core/offloading/pod_plan.hpp"
#include "kube/k8s/condition.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
namespace resources = kube::resources;

namespace {

constexpr std::string_view job_name = "batch.kubernetes.io/job-name";
constexpr int max_failures = 2;

std::string_view job_of(const json::object& pod) { return kube::string_at(pod, {"metadata", "labels", job_name}); }

bool ended_with(const json::object& pod, std::int64_t code) {
  for (const json::value& status : kube::array_at(pod, {"status", "containerStatuses"}))
    if (kube::int_at(status, {"state", "terminated", "exitCode"}, -1) == code) return true;
  return false;
}

bool is_disrupted(const json::object& pod) {
  const json::object* condition = kube::find_condition(kube::object_at(pod, {"status"}), "DisruptionTarget");
  return condition && kube::string_at(*condition, {"status"}) == "True";
}

}  // namespace

void track(json::object& pod) {
  kube::ensure_array(kube::ensure_object(pod, "metadata"), "finalizers").push_back(json::value(job_tracking));
}

bool is_tracked(const json::object& pod) {
  for (const json::value& finalizer : kube::array_at(pod, {"metadata", "finalizers"}))
    if (finalizer.is_string() && std::string_view(finalizer.get_string()) == job_tracking) return true;
  return false;
}

FakeJobs::FakeJobs(kube::testing::Simulator& simulator, kube::testing::FakeApiServer& server)
    : simulator_(simulator), server_(server), random_(simulator.random().next()) {
  server_.store().on_change([this](const kube::testing::FakeChange& change) {
    if (change.kind->plural == "pods" && change.key.ns == home_namespace) reconcile_later(random_.between(1ms, 100ms));
  });
}

void FakeJobs::create(json::object pod, JobPolicy policy) {
  track(pod);
  const std::string name(name_of(pod));
  kube::ensure_object(pod["metadata"].as_object(), "labels")[job_name] = name;
  jobs_.emplace(name, Job{.pod = std::move(pod), .policy = policy});
  reconcile_later(1ms);
}

void FakeJobs::set_suspended(const std::string& name, bool suspended) {
  jobs_.at(name).suspended = suspended;
  reconcile_later(1ms);
}

void FakeJobs::reconcile_later(kube::Duration after) {
  if (std::exchange(is_due_, true)) return;
  simulator_.clock().call_in(after, [this] {
    is_due_ = false;
    reconcile();
  });
}

std::vector<Tree> FakeJobs::pods_of(std::string_view job) {
  std::vector<Tree> found;
  for (const Tree& pod : server_.list(resources::pods, home_namespace))
    if (job_of(*pod) == job) found.push_back(pod);
  return found;
}

void FakeJobs::reconcile() {
  for (const Tree& pod : server_.list(resources::pods, home_namespace)) {
    if (!is_tracked(*pod)) continue;
    const auto job = jobs_.find(std::string(job_of(*pod)));
    count(*pod, job == jobs_.end() ? nullptr : &job->second);
  }
  for (auto& [name, job] : jobs_) reconcile_job(name, job);
}

void FakeJobs::count(const json::object& pod, Job* job) {
  // Kubernetes' garbage collector ends pods that are deleted before they have a node.
  const bool is_unbound = kube::string_at(pod, {"spec", "nodeName"}).empty();
  const bool is_ended = is_final(phase_of(pod)) || (is_unbound && is_deleting(pod));
  const bool counts_deleted = job && (job->policy == JobPolicy::terminating_or_failed || !job->ended.empty());
  if (!is_ended && !(counts_deleted && is_deleting(pod))) return;
  if (job && job->ended.empty()) {
    if (phase_of(pod) == "Succeeded")
      job->ended = "Complete";
    else
      count_failed(pod, *job);
  }
  (void)server_.update(
      {resources::pods, key_of(pod)},
      [](json::object& next) {
        json::array kept;
        for (const json::value& finalizer : kube::array_at(next, {"metadata", "finalizers"}))
          if (!finalizer.is_string() || std::string_view(finalizer.get_string()) != job_tracking)
            kept.push_back(finalizer);
        next["metadata"].as_object()["finalizers"] = std::move(kept);
      },
      actor);
}

void FakeJobs::count_failed(const json::object& pod, Job& job) {
  job.next_at = simulator_.clock().now() + random_.between(10ms, 3s);
  if (job.policy == JobPolicy::failure_policy) {
    if (ended_with(pod, fatal_exit_code)) {
      job.ended = "Failed";
      job.ended_by = uid_of(pod);
      return;
    }
    if (is_disrupted(pod)) return;
  }
  if (!job.suspended && ++job.failed >= max_failures) job.ended = "Failed";
}

void FakeJobs::reconcile_job(const std::string& name, Job& job) {
  int active = 0;
  for (const Tree& pod : pods_of(name)) {
    if (is_final(phase_of(*pod))) continue;
    if (!is_deleting(*pod) && (job.suspended || !job.ended.empty())) {
      kube::DeleteOptions options{.uid = std::string(uid_of(*pod))};
      (void)server_.remove(resources::pods, key_of(*pod), options, actor);
    }
    if (!is_deleting(*pod) || job.policy != JobPolicy::terminating_or_failed) ++active;
  }
  if (active > 0 || job.suspended || !job.ended.empty()) return;
  if (const kube::Duration left = job.next_at - simulator_.clock().now(); left > kube::Duration::zero())
    return reconcile_later(left);
  json::object pod = job.pod;
  pod["metadata"].as_object()["name"] = name + "-" + std::to_string(job.made++);
  (void)server_.create(resources::pods, std::move(pod), actor);
}

}  // namespace liqo::sim
