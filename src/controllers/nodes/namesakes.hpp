// The VirtualNodes whose Node is that of an older one of the same name.
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

/// Has a VirtualNode stand aside while an older one in another namespace has its name: its pods at the provider end,
/// its conditions say why, and its deletion waits for nothing but these pods. It touches neither the Node, its lease,
/// nor pods at home, all of which belong to the older one; when that goes, the next one takes over. Admission refuses
/// such VirtualNodes, so these were made without it. A provider that hangs delays only its own. One thread.
class NamesakeController {
 public:
  /// `sessions` and `notices` outlive it.
  NamesakeController(ConnectProvider connect, const ProviderSessions& sessions, const PeerNotices& notices,
                     Context context);

  asio::awaitable<void> run() { return controller_.run(); }
  bool is_busy() const { return controller_.is_busy(); }

 private:
  /// Has all VirtualNodes of that name looked at again.
  void enqueue(const std::string& name);
  /// When a VirtualNode was first seen to have nothing left at its provider.
  struct Ended {
    std::string uid;
    kube::TimePoint since{};
    bool is_certain = false;  ///< also what was on its way then
  };
  /// Whether there still is an older VirtualNode of its name.
  bool stands_aside(const kube::ObjectKey& virtual_node) const;
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  /// Ends what the VirtualNode still has at its provider; answers how many ShadowPods are left.
  asio::awaitable<kube::Result<std::size_t>> end_pods(kube::Object virtual_node, kube::Object older);
  /// The same over a connection.
  asio::awaitable<kube::Result<std::size_t>> end_pods_over(std::shared_ptr<ProviderLink> link,
                                                           kube::Object virtual_node);
  /// Deletes what the VirtualNode has in one twin; answers how many objects there were.
  asio::awaitable<kube::Result<std::size_t>> end_in(kube::Api& provider, kube::Collection twin,
                                                    core::ForgingContext forging, kube::ObjectKey virtual_node);
  /// Its conditions, and an Event.
  asio::awaitable<kube::Result<void>> tell(kube::Object virtual_node, kube::Object older,
                                           const kube::Result<std::size_t>& left);
  /// How the reconcile ends where nothing is left.
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
