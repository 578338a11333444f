// Asking an API server for an upgrade by one protocol after the other, until it takes one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kube/async/clock.hpp"
#include "kube/net/transport.hpp"

namespace kube {

namespace asio = boost::asio;

/// Makes a request the handshake of a WebSocket with these subprotocols ("a, b"); returns its key.
std::string ask_for_websocket(HttpRequest& request, std::string_view protocols,
                              const std::function<std::uint32_t()>& entropy);
/// Errors: Errc::protocol: the answer is to another key.
Result<void> check_websocket_answer(const net::ResponseHead& head, std::string_view key);

/// Unpredictable numbers of the operating system.
std::uint32_t entropy_of_the_system();

/// The upgrade that was granted: `attempt` is its number in the list.
struct GrantedUpgrade {
  std::size_t attempt = 0;
  net::ResponseHead head;
  std::unique_ptr<net::ByteStream> stream;
};

/// Asks in that order, each for at most `dial_timeout`. A refusal that no other protocol would change (401, 404, 429)
/// is final. If GETs are refused (403) and a POST is not, the first two change places for an hour. Errors: the server's
/// Status of the refused POST, or else of the first attempt (Errc::api); connect, tls, timeout, protocol.
asio::awaitable<Result<GrantedUpgrade>> ask_for_upgrade(net::Upgrader& upgrader, async::Clock& clock,
                                                        std::vector<HttpRequest> attempts, Duration dial_timeout);

}  // namespace kube
