// Tells pods that wait for nothing but a closed virtual node why they wait.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "controllers/runnable.hpp"
#include "kube/runtime/controller.hpp"
#include "liqo/controllers/context.hpp"
#include "liqo/core/offloading/waiting.hpp"

namespace liqo::controllers {

/// While a provider takes no new pods through a virtual node, an Event (`VirtualNodeClosed`) on a pod of an offloaded
/// namespace that could only go there says which cluster has closed it, and why: once for each pod, and once a minute
/// in each namespace.
///
/// Guarantees: pods without a node are not watched, but listed now and then, and only while a node is closed. Of a
/// crowd of them a part is looked at each time, in turn. One thread.
class WaitingPods final : public Runnable {
 public:
  explicit WaitingPods(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return nodes_->has_synced() && offloadings_->has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  struct Waiting {
    kube::Object pod;
    core::ClosedNode node;
  };
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  /// The virtual nodes; none where all of them are open.
  std::vector<kube::Object> nodes_if_closed() const;
  /// The namespaces whose pods may go to virtual nodes, and in which none was told of within a minute.
  std::set<std::string, std::less<>> due_namespaces();
  /// At most one pod of each namespace that is due.
  asio::awaitable<kube::Result<std::vector<Waiting>>> find_waiting(std::vector<kube::Object> nodes);
  void tell(const Waiting& waiting);
  void see_node(const kube::Change& node);
  void look_soon();

  Context context_;
  kube::InformerHandle nodes_, offloadings_;
  std::map<std::string, kube::TimePoint, std::less<>> quiet_until_;  ///< by namespace
  std::set<std::string, std::less<>> told_;                          ///< UIDs of pods
  std::string looked_up_to_;                                         ///< the last pod that was looked at; none = all
  kube::TimePoint next_look_{};
  kube::Controller controller_;
};

}  // namespace liqo::controllers
