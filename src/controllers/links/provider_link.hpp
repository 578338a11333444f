// The way to one provider: what a kubeconfig Secret becomes. Simulations give one of their own.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>

#include "kube/k8s/object.hpp"
#include "kube/net/transport.hpp"

namespace liqo::controllers {

namespace asio = boost::asio;

/// A connection to a provider's API server with the credentials of one Secret.
class ProviderLink {
 public:
  virtual ~ProviderLink() = default;
  /// Carries requests to the API server, for as long as the link lives and until stop().
  virtual kube::net::Transport& transport() = 0;
  /// For exec, attach and port-forward, and for the look whether the provider is there; null where the link has none.
  virtual kube::net::Upgrader* upgrader() = 0;
  /// What is wrong with the credentials at that time, as the rest of a sentence; "" where nothing shows. The server
  /// decides; this tells people why it may refuse.
  virtual std::string credentials_trouble(kube::WallTime) const { return {}; }
  /// Takes over credentials that have changed in the Secret: what is asked for from now on goes out with them, over new
  /// connections, and what is under way ends over the old ones. False where the Secret leads to another server, or
  /// cannot be used: making a new link tells why.
  virtual bool renew(const kube::Object&) { return false; }
  /// Closes every connection. Await before destroying.
  virtual asio::awaitable<void> stop() = 0;
};

/// Makes a link to that cluster from a Secret with the key `kubeconfig`. Failures: one sentence that says what is wrong
/// with the Secret. Nothing is connected yet.
using ConnectProvider =
    std::function<kube::Result<std::unique_ptr<ProviderLink>>(const std::string& cluster, const kube::Object& secret)>;

}  // namespace liqo::controllers
