// Ends what no Quota counts any more: offloaded pods whose grant has been taken away while they run.
#pragma once

#include <map>
#include <string>

#include "kube/runtime/controller.hpp"
#include "liqo/controllers/context.hpp"
#include "liqo/controllers/runnable.hpp"

namespace liqo::controllers {

/// Deletes ShadowPods that were admitted for a user who has had no Quota for a while. A consumer that withdraws its
/// ResourceSlice drains its node first; one that does not would go on running what nobody counts, and be granted as
/// much again. Also removes Pods whose ShadowPod was deleted in a way that leaves them behind. One thread.
class UnaccountedPods final : public Runnable {
 public:
  UnaccountedPods(const asio::any_io_executor& executor, Context context);

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
  void enqueue_all();

  Context context_;
  kube::InformerHandle shadows_, pods_, quotas_;
  std::map<kube::ObjectKey, Notice> noticed_;
  std::map<std::string, kube::TimePoint> confirmed_;  ///< users that had no Quota at that time, asked live
  kube::Controller controller_;
  kube::Log log_{"unaccounted-pods"};
};

}  // namespace liqo::controllers
