// Ends offloaded pods that have lost their grant while they run: their Quota is drained, or no Quota counts them any
// more.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/common/runnable.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// If quotas are enforced, deletes ShadowPods that were admitted for a user who has had no Quota for a while. A
/// consumer that withdraws its ResourceSlice drains its node first; one that does not would go on running pods that no
/// Quota counts. ShadowPods of a drained Quota are deleted at once. Also removes Pods whose ShadowPod was deleted in a
/// way that leaves them behind.
///
/// Guarantees: Pods of users whose grant is gone, and of consumers without a Tenant, end within the time that the
/// policy allows in a drain, even if another client had deleted them with a longer grace period. One thread.
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
  struct Reading;
  /// Whether a list that is begun from now on has a Quota of the user. Pods that ask meanwhile share the next one.
  asio::awaitable<kube::Result<bool>> has_quota_live(std::string user);
  asio::awaitable<std::shared_ptr<Reading>> read_quotas();
  bool is_drained(const std::vector<kube::ObjectKey>& quotas) const;
  /// Whether the consumer of a twin has no Tenant any more.
  bool is_abandoned(const std::string& twin) const;
  /// The pods that the provider ends, and why.
  struct End {
    std::string reason, why;
  };
  asio::awaitable<kube::Outcome> end(kube::ObjectKey key, std::string user, End because);
  /// Makes a Pod end within the time of a drain: one that is ending, or will end as soon as its ShadowPod is gone.
  asio::awaitable<kube::Result<void>> hurry(kube::Object pod);
  void enqueue_all();

  Context context_;
  kube::InformerHandle shadows_, pods_, quotas_, tenants_, namespaces_;
  std::map<kube::ObjectKey, Notice> noticed_;
  std::set<kube::ObjectKey> drained_;  ///< Quotas
  std::shared_ptr<Reading> reading_;   ///< the newest list of Quotas
  std::uint64_t readings_ = 0;         ///< how many were begun
  kube::Controller controller_;
  kube::Log log_{"unaccounted-pods"};
};

}  // namespace liqo::controllers
