// The consumer's half of a slice: fills in the fields that its user leaves open.
#pragma once

#include <string>

#include "controllers/peering/cluster_keys.hpp"
#include "controllers/peering/tenant_namespace.hpp"
#include "core/peering/checked_requests.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Completes the slices of this cluster: who asks, who is asked, the labels of replication, and a signing request by
/// the cluster's key, made again when the key is another one. One thread.
class LocalResourceSliceController final : public Runnable {
 public:
  LocalResourceSliceController(TenantNamespaces& namespaces, ClusterKeys& keys, Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);

  Context context_;
  TenantNamespaces& namespaces_;
  ClusterKeys& keys_;
  kube::InformerHandle slices_;
  core::CheckedRequests checked_;
  kube::Controller controller_;
};

}  // namespace liqo::controllers
