// The nonce of the handshake: made where this cluster is the provider, signed where it is the consumer.
#pragma once

#include "controllers/peering/cluster_keys.hpp"
#include "controllers/peering/tenant_namespace.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Fills the Secret `liqo-nonce` and signs what is in `liqo-signed-nonce`, in tenant namespaces and for their peer
/// only. Never replaces a nonce; signs anew when the nonce or the cluster's keys change. Only a text that has the form
/// of a nonce is signed. One thread.
class NonceController final : public Runnable {
 public:
  NonceController(TenantNamespaces& namespaces, ClusterKeys& keys, Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  asio::awaitable<kube::Outcome> fill(kube::Object secret);
  asio::awaitable<kube::Outcome> sign(kube::Object secret);
  /// What a field of the Secret is to hold, and the Event that says so.
  struct Field {
    std::string_view name;
    std::string bytes;
    std::string_view reason;
    std::string message;
  };
  asio::awaitable<kube::Outcome> write(kube::Object secret, Field field);
  void enqueue(const kube::ObjectKey& key);

  Context context_;
  TenantNamespaces& namespaces_;
  ClusterKeys& keys_;
  kube::Controller controller_;
};

}  // namespace liqo::controllers
