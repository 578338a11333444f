// Withdraws the credentials of a consumer at a provider.
#pragma once

#include "session/session.hpp"

namespace liqoctl {

/// Deletes the consumer's ControlPlane Identity and the provider's Tenant, waits until both and what hangs on them are
/// gone, and clears away what the handshake left (nonces, certificates). Errors: Errc::invalid_input while there are
/// ResourceSlices that are not being deleted. What is gone already is fine.
asio::awaitable<Result<void>> unauthenticate(Session& session, Session::Pair pair);

}  // namespace liqoctl
