// The identity of this cluster towards its peers: its key pair and its ID.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/common/runnable.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Makes the Secret `authentication-keys` and the ConfigMap `liqo-clusterid-configmap` if they do not exist. It never
/// changes the Secret: keys are rotated by replacing it by hand. In the ConfigMap it writes the configured ranges of
/// pods; if none are configured, ranges that a person wrote stay. One thread.
class ClusterKeys final : public Runnable {
 public:
  explicit ClusterKeys(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

  /// The key pair; nothing until there is a usable one.
  const std::optional<core::PrivateKey>& key() const { return key_; }
  /// Adds a reader that is called when key() has changed.
  void subscribe(std::function<void()> handler) { readers_.push_back(std::move(handler)); }

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  asio::awaitable<kube::Outcome> ensure_keys();
  /// A new key pair of the configured kind.
  kube::Result<core::PrivateKey> make_key() const;
  asio::awaitable<kube::Outcome> ensure_cluster_id();

  Context context_;
  kube::InformerHandle secrets_, config_maps_;
  std::optional<core::PrivateKey> key_;
  std::vector<std::function<void()>> readers_;
  kube::Controller controller_;
  kube::Log log_{"cluster-keys"};
};

}  // namespace liqo::controllers
