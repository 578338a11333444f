// How a consumer proves to a provider that it holds its key: the nonce, its signature, and the check of both. Pure.
#pragma once

#include <string>
#include <string_view>

#include "core/peering/keys.hpp"
#include "liqo/api/tenant.hpp"

namespace liqo::core {

/// 64 random bytes in standard base64: 88 characters. What is signed is this text.
kube::Result<std::string> make_nonce(const Entropy& entropy);
/// Whether a text has that form. No other text is ever signed, because the cluster's certificates use the same key.
bool is_nonce(std::string_view text);

/// Why a Tenant is not let in: an Event's reason and its sentence.
struct HandshakeRefusal {
  std::string_view reason;
  std::string text;
};

/// Whether the Tenant's signature is one of `nonce` by its public key, and its signing request is for that key, for
/// the consumer's ControlPlane name and for nothing more.
std::expected<void, HandshakeRefusal> check_handshake(const api::Tenant& tenant, std::string_view nonce);
/// Whether the Tenant's signing request is for its public key, for the consumer's ControlPlane name and for nothing
/// more. For a Tenant that was let in before, whose signature is not checked again.
std::expected<void, HandshakeRefusal> check_request(const api::Tenant& tenant);

/// Whether status.authParams of the Tenant, which only the provider writes, has a certificate for the ControlPlane name
/// and public key that the Tenant names now: then its signature was checked before, and the nonce is no longer needed.
bool was_admitted(const api::Tenant& tenant);

}  // namespace liqo::core
