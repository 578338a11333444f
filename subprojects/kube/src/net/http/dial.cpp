#include "dial.hpp"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "kube/async/event.hpp"
#include "kube/async/task_group.hpp"
#include "kube/async/timeout.hpp"

namespace kube::net {

using boost::system::error_code;

namespace {

/// How long an address is waited for before the next one is tried as well.
constexpr std::chrono::milliseconds head_start{250};

}  // namespace

/// The addresses of a server that are tried side by side.
struct Dialer::Race {
  explicit Race(const asio::any_io_executor& executor) : news(executor) {}
  async::Event news;  ///< an attempt has succeeded or failed
  std::size_t running = 0;
  std::optional<tcp::socket> winner;
  std::optional<Failure> failure;  ///< the last

  static asio::awaitable<void> run(Race& race, tcp::endpoint endpoint, bool alone) {
    tcp::socket socket(co_await asio::this_coro::executor);
    error_code error;
    ++race.running;
    co_await socket.async_connect(endpoint, asio::redirect_error(asio::use_awaitable, error));
    --race.running;
    if (!error && !race.winner) {
      race.winner = std::move(socket);
    } else if (error && error != asio::error::operation_aborted) {
      race.failure = Failure(Errc::connect, (alone ? "" : endpoint.address().to_string() + ": ") + error.message());
    }
    race.news.set();
  }
};

asio::awaitable<Result<Resolver::Addresses>> Dialer::resolve(std::string host, Deadline deadline) {
  error_code error;
  const auto literal = asio::ip::make_address(host, error);
  if (!error) co_return Resolver::Addresses{literal};
  auto answer = co_await async::with_deadline(clock_, resolver_->look_up(std::move(host)), deadline);
  if (!answer) co_return fail(Errc::timeout, "looking up the name: no answer in time");
  if (!*answer) co_return fail(std::move(answer->error()), "looking up the name");
  co_return std::move(*answer);
}

asio::awaitable<Result<tcp::socket>> Dialer::connect(const wire::ServerUrl& server,
                                                     const Resolver::Addresses& addresses, Deadline deadline) {
  Race race(executor_);
  async::TaskGroup runners(executor_, async::TaskGroup::OnFailure::keep_others);
  std::exception_ptr interrupted;
  try {
    for (std::size_t next = 0; !race.winner && clock_.now() < deadline.at;) {
      const bool last = next == addresses.size();
      if (last && race.running == 0) break;
      if (!last) runners.spawn(Race::run(race, {addresses[next++], server.port}, addresses.size() == 1));
      const Deadline until{last ? deadline.at : std::min(deadline.at, clock_.now() + head_start)};
      if (co_await race.news.wait_until(clock_, until)) race.news.reset();
    }
  } catch (...) {
    interrupted = std::current_exception();
  }
  // The state is reset only if the cancellation has come already: otherwise the next one would be forgotten.
  if (interrupted) co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  // A cancellation that came in the same turn as the connection would be thrown here, and leave the runners without
  // their group.
  const bool throwing = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await runners.stop();
  co_await asio::this_coro::throw_if_cancelled(throwing);
  if (interrupted) std::rethrow_exception(interrupted);
  if (race.winner) {
    tune(*race.winner);
    co_return std::move(*race.winner);
  }
  if (clock_.now() < deadline.at && race.failure) co_return std::unexpected(std::move(*race.failure));
  co_return fail(Errc::timeout, race.failure ? "no answer in time; " + race.failure->text() : "no answer in time");
}

asio::awaitable<Result<Dialed>> Dialer::dial(wire::ServerUrl server, std::optional<ClientTls> tls, Deadline deadline,
                                             std::shared_ptr<Traffic> traffic) {
  const std::string phase = "connecting to " + server.host_port();
  KUBE_CO_TRY(addresses, co_await resolve(server.host, deadline), phase);
  KUBE_CO_TRY(socket, co_await connect(server, addresses, deadline), phase);
  Dialed dialed;
  if (!tls) {
    dialed.stream = make_tcp_stream(std::move(socket), traffic);
    co_return dialed;
  }
  auto secured = co_await async::with_deadline(
      clock_, tls_handshake_client(std::move(socket), std::move(*tls), traffic), deadline);
  if (!secured) co_return fail(Errc::timeout, phase + ": no TLS handshake in time");
  if (!*secured) co_return fail(std::move(secured->error()), phase);
  dialed.stream = std::move((*secured)->stream);
  dialed.http2 = (*secured)->protocol == "h2";
  co_return dialed;
}

}  // namespace kube::net
