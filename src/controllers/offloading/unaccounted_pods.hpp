// Ends offloaded pods whose grant has been taken away while they run: drained, or counted by no Quota any more.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "controllers/runnable.hpp"
#include "kube/runtime/controller.hpp"
#include "liqo/controllers/context.hpp"

namespace liqo::controllers {

/// Where quotas are enforced, deletes ShadowPods that were admitted for a user who has had no Quota for a while. A
/// consumer that withdraws its ResourceSlice drains its node first; one that does not would go on running what nobody
/// counts, and be granted as much again. Those of a drained Quota it deletes at once. Also removes Pods whose ShadowPod
/// was deleted in a way that leaves them behind. One thread.
class UnaccountedPods final : public Runnable {
 public:
  explicit UnaccountedPods(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return shadows_->has_synced() && pods_->has_synced() && quotas_->has_synced(); }
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
  asio::awaitable<kube::Outcome> end(kube::Object shadow, std::string reason, std::string why);
  void enqueue_all();

  Context context_;
  kube::InformerHandle shadows_, pods_, quotas_;
  std::map<kube::ObjectKey, Notice> noticed_;
  std::set<kube::ObjectKey> drained_;                 ///< Quotas
  std::map<std::string, kube::TimePoint> confirmed_;  ///< when a live read found no Quota of a user
  kube::Controller controller_;
  kube::Log log_{"unaccounted-pods"};
};

}  // namespace liqo::controllers
