// The steps by which a consumer gets credentials at a provider, for commands on one or on both clusters. Each step can
// be repeated: objects that are there already stay.
#pragma once

#include "cli/command.hpp"
#include "core/peering/keys.hpp"
#include "session/session.hpp"

namespace liqoctl {

/// The name of the tenant namespace for a peer. It is created if it is missing, also after that of an earlier peering
/// was deleted.
asio::awaitable<Result<std::string>> ensure_tenant_namespace(Session& session, Cluster& cluster, std::string peer);

/// Provider: the nonce for a consumer. The provider's liqod makes it if there is none yet.
asio::awaitable<Result<std::string>> obtain_nonce(Session& session, Cluster& provider, std::string tenant_namespace,
                                                  std::string consumer);

struct NonceToSign {
  std::string tenant_namespace;  ///< for the provider, in the consumer's cluster
  std::string provider;
  std::string nonce;
};
/// Consumer: the signature of a nonce (raw), which the consumer's liqod makes.
asio::awaitable<Result<std::string>> obtain_signature(Session& session, Cluster& consumer, NonceToSign order);

/// Consumer: the key of the cluster.
asio::awaitable<Result<liqo::core::PrivateKey>> read_key(Cluster& consumer);

/// Provider: writes the Tenant and waits until it has credentials. The fields that an operator has set (its condition,
/// its policy) are kept. Returns the Tenant.
asio::awaitable<Result<Object>> admit_tenant(Session& session, Cluster& provider, Object tenant);

/// Consumer: writes the Identity and waits for its kubeconfig Secret. Only the other side vouches for server and CA, so
/// an existing Identity keeps its own unless `replace`. Errors: among others Errc::invalid_input if they differ.
asio::awaitable<Result<void>> adopt_identity(Session& session, Cluster& consumer, Object identity, bool replace);

/// Adds the flag that sets `replace`.
void add_replace(cli::Command app, bool& into);
/// The whole handshake.
asio::awaitable<Result<void>> authenticate(Session& session, Session::Pair pair, bool replace);

}  // namespace liqoctl
