#include "dial.hpp"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "kube/async/event.hpp"
#include "kube/async/timeout.hpp"

namespace kube::net {

using boost::system::error_code;

namespace {

/// An address that does not answer must not use up the time of those behind it.
constexpr std::chrono::seconds address_time{5};

asio::awaitable<void> connect_to(tcp::socket& socket, tcp::endpoint endpoint, error_code& error) {
  co_await socket.async_connect(endpoint, asio::redirect_error(asio::use_awaitable, error));
}

}  // namespace

struct Dialer::Lookup {
  explicit Lookup(const asio::any_io_executor& executor) : done(executor) {}
  async::Event done;
  Result<Addresses> addresses = Addresses();
};

asio::awaitable<void> Dialer::look_up(std::shared_ptr<Lookup> lookup, std::string host) {
  // Cancellation does not stop a look-up once it runs; ignoring it here keeps the answer for whoever waits.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  tcp::resolver resolver(executor_);
  error_code error;
  const auto results = co_await resolver.async_resolve(host, "", asio::redirect_error(asio::use_awaitable, error));
  lookups_.erase(host);
  Addresses addresses;
  for (const auto& entry : results) {
    const auto address = entry.endpoint().address();
    if (std::find(addresses.begin(), addresses.end(), address) == addresses.end()) addresses.push_back(address);
  }
  if (error || addresses.empty()) {
    lookup->addresses =
        fail(Errc::connect, "looking up the name: " + (error ? error.message() : std::string("no address")));
  } else {
    lookup->addresses = std::move(addresses);
  }
  lookup->done.set();
}

asio::awaitable<Result<Dialer::Addresses>> Dialer::resolve(std::string host, Deadline deadline) {
  error_code error;
  const auto literal = asio::ip::make_address(host, error);
  if (!error) co_return Addresses{literal};
  auto& lookup = lookups_[host];
  if (!lookup) {
    lookup = std::make_shared<Lookup>(executor_);
    group_.spawn(look_up(lookup, host));
  }
  const auto kept = lookup;
  const bool done = co_await kept->done.wait_until(clock_, deadline);
  if (!done) co_return fail(Errc::timeout, "looking up the name: no answer in time");
  co_return kept->addresses;
}

asio::awaitable<Result<tcp::socket>> Dialer::connect(const wire::ServerUrl& server, const Addresses& addresses,
                                                     Deadline deadline) {
  Failure last(Errc::timeout, "no answer in time");
  for (const auto& address : addresses) {
    if (clock_.now() >= deadline.at) break;
    const bool only = addresses.size() == 1;
    const Deadline until = only ? deadline : Deadline{std::min(deadline.at, clock_.now() + address_time)};
    tcp::socket socket(executor_);
    error_code error;
    const bool done = co_await async::with_deadline(clock_, connect_to(socket, {address, server.port}, error), until);
    if (done && !error) {
      tune(socket);
      co_return std::move(socket);
    }
    const std::string where = only ? std::string() : address.to_string() + ": ";
    last = done ? Failure(Errc::connect, where + error.message()) : Failure(Errc::timeout, where + "no answer in time");
  }
  co_return std::unexpected(std::move(last));
}

asio::awaitable<Result<Dialed>> Dialer::dial(wire::ServerUrl server, const TlsContext* tls, std::string tls_server_name,
                                             bool offer_http2, Deadline deadline, std::shared_ptr<Traffic> traffic) {
  const std::string phase = "connecting to " + server.host_port();
  auto addresses = co_await resolve(server.host, deadline);
  if (!addresses) co_return fail(std::move(addresses.error()), phase);
  auto socket = co_await connect(server, *addresses, deadline);
  if (!socket) co_return fail(std::move(socket.error()), phase);
  Dialed dialed;
  if (tls == nullptr) {
    dialed.stream = make_tcp_stream(std::move(*socket), traffic);
    co_return dialed;
  }
  const TlsContext context = *tls;
  auto secured = co_await async::with_deadline(
      clock_,
      tls_handshake_client(std::move(*socket), context, tls_server_name.empty() ? server.host : tls_server_name,
                           offer_http2, traffic),
      deadline);
  if (!secured) co_return fail(Errc::timeout, phase + ": no TLS handshake in time");
  if (!*secured) co_return fail(std::move(secured->error()), phase);
  dialed.stream = std::move((*secured)->stream);
  dialed.http2 = (*secured)->protocol == "h2";
  co_return dialed;
}

}  // namespace kube::net
