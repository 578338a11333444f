// The Job controller of a simulated cluster.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cluster.hpp"

namespace liqo::sim {

/// The finalizer of pods whose end is counted: they stay until then.
inline constexpr std::string_view job_tracking = "batch.kubernetes.io/job-tracking";

/// The policy by which a Job counts its pods as failed.
enum class JobPolicy {
  terminating_or_failed,  ///< podReplacementPolicy TerminatingOrFailed: also those that are being deleted
  failed,                 ///< podReplacementPolicy Failed: those of phase Failed
  failure_policy,         ///< the same with a podFailurePolicy: see `FakeJobs::fatal_exit_code`
};

/// Jobs of one pod each. Removes the finalizer `job_tracking` from pods whose phase is final, whoever owns them, as a
/// controller does that has seen their end. Like Kubernetes' controller it makes another pod for one of its Jobs' pods
/// that failed, for two failures at most, and none while a pod that may still succeed is ending. Attached to its server
/// for good; must live as long as the simulator runs.
class FakeJobs {
 public:
  /// A Job with a podFailurePolicy fails when one of its containers ends with this code, and does not count a pod with
  /// the condition DisruptionTarget. The rules apply in this order.
  static constexpr std::int64_t fatal_exit_code = 1;
  static constexpr std::string_view actor = "job-controller";

  struct Job {
    json::object pod;
    JobPolicy policy{};
    bool suspended = false;
    int made = 0, failed = 0;
    std::string ended = {};     ///< "Complete" or "Failed"
    std::string ended_by = {};  ///< UID of the pod whose exit code has failed it
    kube::TimePoint next_at{};  ///< the earliest time of the next pod
  };

  FakeJobs(kube::testing::Simulator& simulator, kube::testing::FakeApiServer& server);
  /// `pod` is the template; its name is the Job's.
  void create(json::object pod, JobPolicy policy);
  /// Suspends a Job, whose pods are deleted, or resumes it.
  void set_suspended(const std::string& name, bool suspended);
  const std::map<std::string, Job>& jobs() const { return jobs_; }

 private:
  void reconcile_later(kube::Duration after);
  void reconcile();
  void reconcile_job(const std::string& name, Job& job);
  /// Counts the pod, and releases it.
  void count(const json::object& pod, Job* job);
  void count_failed(const json::object& pod, Job& job);
  std::vector<Tree> pods_of(std::string_view job);

  kube::testing::Simulator& simulator_;
  kube::testing::FakeApiServer& server_;
  kube::Random random_;
  std::map<std::string, Job> jobs_;
  bool is_due_ = false;
};

/// Adds the finalizer to a pod that is to be created.
void track(json::object& pod);
bool is_tracked(const json::object& pod);

}  // namespace liqo::sim
