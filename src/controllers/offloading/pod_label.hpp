// Marks the offloaded pods of a virtual node that is not Ready: their last known status may be out of date.
#pragma once

#include <map>
#include <string>

#include "controllers/common/context.hpp"
#include "controllers/common/runnable.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Keeps the label `liqo.io/remote-unavailable` on the pods of virtual nodes as the Ready condition of the Node says,
/// also on pods that are bound while it is not Ready. One thread.
class PodLabelController final : public Runnable {
 public:
  explicit PodLabelController(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  struct Watched {
    kube::InformerHandle pods;  ///< the same watch that the PodController of the node has
    bool ready = true;
  };
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  void node_changed(const std::string& name);
  void enqueue_pods(const std::string& node);

  Context context_;
  kube::InformerHandle nodes_;
  std::map<std::string, Watched> watched_;  ///< by Node
  kube::Controller controller_;
};

}  // namespace liqo::controllers
