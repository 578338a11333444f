// Withdraws the credentials of a consumer at a provider.
#pragma once

#include "session/session.hpp"

namespace liqoctl {

/// Deletes the consumer's ControlPlane Identity and the provider's Tenant, and waits until both and their dependents
/// are gone. Then deletes what the handshake left (nonces, certificates). Errors: Errc::invalid_input while there are
/// ResourceSlices that are not being deleted. Objects that are gone already are no error.
asio::awaitable<Result<void>> unauthenticate(Session& session, Session::Pair pair);

}  // namespace liqoctl
