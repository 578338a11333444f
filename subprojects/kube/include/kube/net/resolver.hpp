// Names looked up by the system's resolver, so that a name server that never answers holds up nobody else.
// Tested by test/net/http/http_client_dial_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/address.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kube/base/failure.hpp"

namespace kube::net {

namespace asio = boost::asio;

/// The system can only be asked by a thread that waits, perhaps for a minute, and cannot be stopped. So each name has a
/// thread of its own while it is looked up. It is looked up once at a time, however many callers ask for it. May be
/// used from any loop.
class Resolver {
 public:
  using Addresses = std::vector<asio::ip::address>;
  /// Waits for the answer; called on threads of the resolver, must not throw.
  using Ask = std::function<Result<Addresses>(const std::string& host)>;

  /// Looks up at most `max_threads` names at a time; more wait for their turn.
  explicit Resolver(Ask ask, std::size_t max_threads = 16);
  /// The system's, one for this process.
  static const std::shared_ptr<Resolver>& of_the_system();

  /// Errors: those of `Ask` (Errc::connect with the reason), Errc::too_large while too many names wait. Cancellable:
  /// the look-up goes on by itself then, for the next who asks.
  asio::awaitable<Result<Addresses>> look_up(std::string host);

 private:
  struct State;
  std::shared_ptr<State> state_;  ///< shared with threads that outlive this
};

}  // namespace kube::net
