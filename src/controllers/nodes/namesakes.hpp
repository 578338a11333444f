// Handles VirtualNodes whose Node belongs to an older VirtualNode of the same name.
// Tested by test/unit/controllers/nodes/namesakes_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "controllers/links/provider_link.hpp"
#include "controllers/peering/peer_notices.hpp"
#include "controllers/sessions/provider_sessions.hpp"
#include "kube/client/list_all.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Makes a VirtualNode stand aside while an older one in another namespace has its name. Its pods at the provider end,
/// its conditions say why, and its deletion waits only for these pods. It does not touch the Node, the lease, or pods
/// at home: all of them belong to the older one. When that goes, the next one takes over. Admission refuses such
/// VirtualNodes, so these were created without it. A provider that hangs delays only its own VirtualNodes. One thread.
class NamesakeController {
 public:
  /// `sessions` and `notices` outlive it.
  NamesakeController(ConnectProvider connect, const ProviderSessions& sessions, const PeerNotices& notices,
                     Context context);

  asio::awaitable<void> run() { return controller_.run(); }
  bool is_busy() const { return controller_.is_busy(); }

 private:
  /// Enqueues all VirtualNodes of that name.
  void enqueue(const std::string& name);
  /// When a VirtualNode was first seen to have nothing left at its provider.
  struct Ended {
    std::string uid;
    kube::TimePoint since{};
    bool is_certain = false;  ///< requests that were under way then have been waited for, too
  };
  /// Whether there is still an older VirtualNode of its name.
  bool stands_aside(const kube::ObjectKey& virtual_node) const;
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  /// Ends what the VirtualNode still has at its provider; returns how many ShadowPods are left.
  asio::awaitable<kube::Result<std::size_t>> end_pods(kube::Object virtual_node, kube::Object older);
  /// Ends the pods over a connection; returns how many ShadowPods are left.
  asio::awaitable<kube::Result<std::size_t>> end_pods_over(std::shared_ptr<ProviderLink> link,
                                                           kube::Object virtual_node);
  /// Deletes what the VirtualNode has in one twin; returns how many objects there were.
  asio::awaitable<kube::Result<std::size_t>> end_in(kube::Api& provider, kube::Collection twin,
                                                    core::ForgingContext forging, kube::ObjectKey virtual_node);
  /// Reports why it stands aside: in conditions, and by an Event.
  asio::awaitable<kube::Result<void>> report(kube::Object virtual_node, kube::Object older,
                                             const kube::Result<std::size_t>& left);
  /// Ends the reconcile once nothing is left at the provider.
  asio::awaitable<kube::Outcome> conclude(kube::Object virtual_node);

  ConnectProvider connect_;
  const ProviderSessions& sessions_;
  const PeerNotices& notices_;
  Context context_;
  kube::InformerHandle virtual_nodes_, namespace_maps_;
  std::map<kube::ObjectKey, Ended> ended_;
  kube::Controller controller_;
};

}  // namespace liqo::controllers
