// The connection to one provider, made from a kubeconfig Secret. Simulations have an implementation of their own.
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
  /// For exec, attach and port-forward, and for probing whether the provider is reachable; null if the link has none.
  virtual kube::net::Upgrader* upgrader() = 0;
  /// What is wrong with the credentials at that time, as the rest of a sentence; "" if nothing is known to be. The
  /// server decides; this explains to people why it may refuse.
  virtual std::string credentials_trouble(kube::WallTime) const { return {}; }
  /// Takes over credentials that have changed in the Secret. New requests use them, over new connections; requests
  /// under way end over the old ones. False if the Secret leads to another server, or cannot be used: making a new link
  /// then fails with the reason.
  virtual bool renew(const kube::Object&) { return false; }
  /// Closes every connection. Await before destroying.
  virtual asio::awaitable<void> stop() = 0;
};

/// Makes a link to that cluster from a Secret with the key `kubeconfig`, without connecting yet. Failures: one sentence
/// that says what is wrong with the Secret.
using ConnectProvider =
    std::function<kube::Result<std::unique_ptr<ProviderLink>>(const std::string& cluster, const kube::Object& secret)>;

}  // namespace liqo::controllers
