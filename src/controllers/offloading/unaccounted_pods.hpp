// Ends offloaded pods whose grant has been taken away while they run: drained, or counted by no Quota any more.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/common/runnable.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Where quotas are enforced, deletes ShadowPods that were admitted for a user who has had no Quota for a while. A
/// consumer that withdraws its ResourceSlice drains its node first; one that does not would go on running what no Quota
/// counts. Those of a drained Quota it deletes at once. Also removes Pods whose ShadowPod was deleted in a way that
/// leaves them behind.
///
/// Guarantees: Pods of users whose grant is gone, and of consumers without a Tenant, end within the time that the
/// policy allows in a drain, also those that somebody else had let end more slowly. One thread.
class UnaccountedPods final : public Runnable {
 public:
  explicit UnaccountedPods(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  struct Notice {
    std::string uid;
    kube::TimePoint since;
  };
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  asio::awaitable<kube::Outcome> end_orphan(kube::ObjectKey key);
  asio::awaitable<kube::Result<bool>> has_quota_live(std::string user);
  bool is_drained(const std::vector<kube::ObjectKey>& quotas) const;
  /// Whether the consumer of a twin has no Tenant any more.
  bool is_abandoned(const std::string& twin) const;
  /// Whom the provider ends, and why.
  struct End {
    std::string reason, why;
  };
  asio::awaitable<kube::Outcome> end(kube::ObjectKey key, std::string user, End because);
  /// Has a Pod that is ending, or will as soon as its ShadowPod has gone, end within the time of a drain.
  asio::awaitable<kube::Result<void>> hurry(kube::Object pod);
  void enqueue_all();

  Context context_;
  kube::InformerHandle shadows_, pods_, quotas_, tenants_, namespaces_;
  std::map<kube::ObjectKey, Notice> noticed_;
  std::set<kube::ObjectKey> drained_;                 ///< Quotas
  std::map<std::string, kube::TimePoint> confirmed_;  ///< when a live read found no Quota of a user
  kube::Controller controller_;
  kube::Log log_{"unaccounted-pods"};
};

}  // namespace liqo::controllers
