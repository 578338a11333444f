// Reports that the NetworkPolicies of an offloaded namespace do not hold in other clusters.
// Tested by test/unit/controllers/namespaces/network_policy_notices_test.cpp.
#pragma once

#include <map>
#include <set>
#include <string>

#include "controllers/common/context.hpp"
#include "controllers/common/runnable.hpp"
#include "core/namespaces/network_policies.hpp"
#include "kube/runtime/controller.hpp"
#include "kube/runtime/view.hpp"

namespace liqo::controllers {

/// Sends one Event for each provider of an offloaded namespace whose pods may run there, if the namespace has a
/// NetworkPolicy, or gets one later. An annotation of the NamespaceOffloading says for which providers that was
/// reported. NetworkPolicies are not watched: their metadata is listed once a namespace is offloaded, and every two
/// minutes while there are offloaded namespaces of which nothing was reported. One thread.
class NetworkPolicyNotices final : public Runnable {
 public:
  explicit NetworkPolicyNotices(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  /// The provider that a NamespaceMap asks for twins, and their names by namespace; "" = it is not an outgoing map.
  struct Wish {
    std::string cluster;
    std::map<std::string, std::string, std::less<>> twins;
    bool operator==(const Wish&) const = default;
  };
  /// A NamespaceOffloading that lets pods run elsewhere, and the providers of which was reported.
  struct Offloading {
    bool lets_pods_go = false;
    std::set<std::string, std::less<>> told;
    bool operator==(const Offloading&) const = default;
  };
  /// By provider: the twin of a namespace of which nothing was reported yet.
  using Untold = std::map<std::string, std::string>;

  /// Lists the NetworkPolicies of all namespaces, and reports those of the ones of which nothing was reported.
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  asio::awaitable<kube::Result<void>> report(std::string ns, core::FoundPolicies policies);
  Untold untold(const std::string& ns) const;
  void enqueue_soon();

  Context context_;
  kube::InformerHandle offloadings_, maps_;
  kube::View<Offloading> offloaded_;
  kube::View<Wish> wishes_;
  bool is_refused_ = false;  ///< this process may not list NetworkPolicies, which was logged
  kube::Log log_{"networkpolicies"};
  kube::Controller controller_;
};

}  // namespace liqo::controllers
