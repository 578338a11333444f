// Reports to pods that wait only for a closed virtual node why they wait.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/common/runnable.hpp"
#include "core/offloading/waiting.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// While a provider takes no new pods through a virtual node, sends the Event `VirtualNodeClosed` to pods of offloaded
/// namespaces that could only go there. It says which cluster has closed the node, and why. Each pod gets one in half
/// an hour for each reason, and each namespace one a minute.
///
/// Guarantees: pods without a node are not watched, but listed from time to time, and only while a node is closed. If
/// there are many pods or namespaces, each look covers a part of them, in turn. One thread.
class WaitingPods final : public Runnable {
 public:
  explicit WaitingPods(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  /// Where the last look ended: a namespace, and which of its pages comes next ("" = the first).
  struct Position {
    std::string ns, page;
  };
  /// What one look for waiting pods has found so far.
  struct Search {
    std::vector<kube::Object> nodes;
    std::size_t pages = 0;
    std::vector<kube::ObjectKey> found;
  };
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  /// The virtual nodes; none if all of them are open.
  std::vector<kube::Object> nodes_if_closed() const;
  /// The namespaces whose pods may go to virtual nodes, and in which no pod got an Event within the last minute; first
  /// the one at which the last look ended.
  std::vector<std::string> due_namespaces() const;
  /// Finds at most one pod of each namespace that is due. `search` keeps what was found before a failure.
  asio::awaitable<kube::Result<void>> find_waiting(Search& search);
  /// Finds at most one due pod in the namespace of `position_`, and moves that on.
  asio::awaitable<kube::Result<void>> find_waiting_here(Search& search);
  /// The node for which the pod waits, unless that was reported to the pod recently.
  std::optional<core::ClosedNode> unreported_node(const kube::Object& pod,
                                                  const std::vector<kube::Object>& nodes) const;
  /// Sends Events to the pods that still wait: a page may show a state of some minutes ago.
  asio::awaitable<kube::Result<void>> report(Search& search);
  void see_node(const kube::Change& node);
  void look_soon();

  Context context_;
  kube::InformerHandle nodes_, offloadings_;
  std::map<std::string, kube::TimePoint, std::less<>> quiet_until_;     ///< by namespace
  std::map<std::string, kube::TimePoint, std::less<>> reported_until_;  ///< by the pod's UID and the reported reason
  Position position_;
  kube::TimePoint next_look_{};
  kube::Controller controller_;
};

}  // namespace liqo::controllers
