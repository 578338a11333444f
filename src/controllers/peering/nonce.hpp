// The nonce of the handshake: this cluster makes it as a provider, and signs it as a consumer.
#pragma once

#include "controllers/peering/cluster_keys.hpp"
#include "controllers/peering/tenant_namespace.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Fills the Secret `liqo-nonce`, and signs the nonce in `liqo-signed-nonce`, only in tenant namespaces and for their
/// peers. Never replaces a nonce; signs again when the nonce or the cluster's keys change. Only a text with the form of
/// a nonce is signed. One thread.
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
  /// The wanted value of a field of the Secret, and the Event that reports it.
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
