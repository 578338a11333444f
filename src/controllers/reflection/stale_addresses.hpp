// Removes from objects at home the addresses that providers gave to copies which they have no longer.
// Tested by test/unit/controllers/reflection/stale_addresses_test.cpp.
#pragma once

#include <array>
#include <set>
#include <string>

#include "controllers/common/context.hpp"
#include "controllers/common/runnable.hpp"
#include "kube/runtime/controller.hpp"
#include "kube/runtime/view.hpp"

namespace liqo::controllers {

/// Takes the annotation `remote-addresses` off all Services and Ingresses of a namespace that is no longer offloaded.
/// Where this process may not write them, it is left.
asio::awaitable<kube::Result<void>> clear_remote_addresses(kube::Api& home, std::string ns);

/// Takes out of the annotation `remote-addresses` of Services and Ingresses in offloaded namespaces the providers that
/// no NamespaceMap asks for a twin of the namespace: it is offloaded there no longer, or the peering has ended. While a
/// provider is asked for a twin, its Reflector looks after its entry. Services and Ingresses are watched, by their
/// headers alone, once a namespace is offloaded. One thread.
class StaleAddresses final : public Runnable {
 public:
  explicit StaleAddresses(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  /// The provider that a NamespaceMap asks for twins, and the namespaces whose twins it asks for. "" = it is not an
  /// outgoing map.
  struct Wish {
    std::string cluster;
    std::set<std::string, std::less<>> spaces;
  };
  struct Watched {
    kube::Resource resource;
    kube::InformerHandle headers;
  };
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  /// Begins to watch, unless it does already.
  void start();
  /// Enqueues the objects that show addresses of a provider.
  void enqueue_showing(const std::string& cluster);
  /// Enqueues the objects of a namespace, which may have been annotated before it was offloaded.
  void enqueue_in(const std::string& ns);
  bool is_offloaded(const std::string& ns) const;
  bool is_asked(std::string_view cluster, const std::string& ns) const;

  Context context_;
  kube::InformerHandle offloadings_, maps_;
  std::array<Watched, 2> watched_;
  kube::View<Wish> wishes_;
  kube::Log log_{"remote-addresses"};
  kube::Controller controller_;
};

}  // namespace liqo::controllers
