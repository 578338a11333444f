// The steps by which a consumer gets credentials at a provider, as commands on one or on both clusters use them. Each
// can be done again: what is there already stays.
#pragma once

#include "cli/command.hpp"
#include "core/peering/keys.hpp"
#include "session/session.hpp"

namespace liqoctl {

/// The name of the tenant namespace for a peer. It is made where it is missing, also after that of an earlier peering
/// has gone.
asio::awaitable<Result<std::string>> ensure_tenant_namespace(Session& session, Cluster& cluster, std::string peer);

/// Provider: the nonce for a consumer, made by the provider's liqod where there is none yet.
asio::awaitable<Result<std::string>> obtain_nonce(Session& session, Cluster& provider, std::string tenant_namespace,
                                                  std::string consumer);

struct NonceToSign {
  std::string tenant_namespace;  ///< of the provider, at the consumer
  std::string provider;
  std::string nonce;
};
/// Consumer: the signature of a nonce (raw), made by the consumer's liqod.
asio::awaitable<Result<std::string>> obtain_signature(Session& session, Cluster& consumer, NonceToSign order);

/// Consumer: the key of the cluster.
asio::awaitable<Result<liqo::core::PrivateKey>> read_key(Cluster& consumer);

/// Provider: writes the Tenant and waits until it has credentials. Keeps what an operator has set (its condition, its
/// policy). Answers the Tenant.
asio::awaitable<Result<Object>> admit_tenant(Session& session, Cluster& provider, Object tenant);

/// Consumer: writes the Identity and waits for its kubeconfig Secret. An Identity that is there already keeps its
/// server and CA unless `replace`, because only the other side vouches for them. Errors: also Errc::invalid_input where
/// they differ.
asio::awaitable<Result<void>> adopt_identity(Session& session, Cluster& consumer, Object identity, bool replace);

/// The flag that sets `replace`.
void add_replace(cli::Command app, bool& into);
/// The whole handshake.
asio::awaitable<Result<void>> authenticate(Session& session, Session::Pair pair, bool replace);

}  // namespace liqoctl
