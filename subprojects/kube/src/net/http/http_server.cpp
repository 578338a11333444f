#include "kube/net/http/http_server.hpp"

#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "http_server_impl.hpp"
#include "kube/async/timeout.hpp"

namespace kube::net {

using boost::system::error_code;

std::string_view ServerRequest::header(std::string_view name) const { return find_header(headers, name); }

asio::awaitable<void> HttpServer::Impl::accept_loop(std::shared_ptr<Listener> listener) {
  while (!stopping && listener->open) {
    tcp::socket socket(executor);
    error_code error;
    co_await listener->acceptor.async_accept(socket, asio::redirect_error(asio::use_awaitable, error));
    if (stopping || !listener->open) co_return;
    if (error) {
      // Out of file descriptors, or a connection that was gone again: neither is a reason to stop serving.
      const auto state = co_await asio::this_coro::cancellation_state;
      if (state.cancelled() != asio::cancellation_type::none) co_return;
      if (error == asio::error::no_descriptors && occupancy.close_one()) continue;
      co_await clock.sleep(std::chrono::milliseconds(50));
      continue;
    }
    ++counters.accepted;
    if (!occupancy.make_room()) {
      ++counters.refused;
      continue;
    }
    connections.spawn(session(std::move(socket)));
  }
}

asio::awaitable<void> HttpServer::Impl::session(tcp::socket socket) {
  struct Listed {
    Impl& impl;
    Session session;
    std::list<ServerConnection*>::iterator place;
    explicit Listed(Impl& owner) : impl(owner), place(owner.occupancy.enter(session)) {}
    ~Listed() { impl.occupancy.leave(place); }
  };
  Listed listed(*this);
  Session& session = listed.session;
  session.since = clock.now();
  session.reader.meter([this, &session](std::size_t count) {
    if (session.held == 0) session.since = clock.now();
    session.without_room = !occupancy.hold(session, count);
    return !session.without_room;
  });
  tune(socket);
  error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  if (error) co_return;
  auto ip = endpoint.address();
  if (ip.is_v6() && ip.to_v6().is_v4_mapped()) ip = asio::ip::make_address_v4(asio::ip::v4_mapped, ip.to_v6());
  const Caller caller{.address = ip.to_string(), .port = socket.local_endpoint(error).port()};
  if (error) co_return;

  std::optional<PeerIdentity> peer;
  if (options.tls) {
    auto stream = make_tls_server_stream(std::move(socket), *options.tls);
    TlsServerStream& tls = *stream;
    session.stream = std::move(stream);
    auto secured = co_await async::with_timeout(clock, tls.handshake(), options.header_timeout);
    if (!secured || !*secured) {
      if (!session.evicted) ++counters.handshake_failures;
      co_return;
    }
    if (auto& subject = **secured) {
      if (session.forgotten) co_return;
      if (!occupancy.recognise(session)) {
        if (!session.evicted) ++counters.refused;
        co_return;
      }
      peer = PeerIdentity{.common_name = std::move(subject->common_name),
                          .organizations = std::move(subject->organizations)};
    }
  } else {
    session.stream = make_tcp_stream(std::move(socket));
  }
  co_await serve_requests(session, caller, peer);
}

HttpServer::HttpServer(asio::any_io_executor executor, async::Clock& clock, HttpServerOptions options,
                       HttpHandler handler)
    : impl_(std::make_shared<Impl>(std::move(executor), clock, std::move(options), std::move(handler))) {}
HttpServer::~HttpServer() = default;

Result<std::uint16_t> HttpServer::Impl::open_listener(std::uint16_t port) {
  const std::string shown = (options.address.empty() ? "*" : options.address) + ":" + std::to_string(port);
  error_code error;
  asio::ip::address address = asio::ip::address_v6::any();
  const bool every = options.address.empty();
  if (!every) address = asio::ip::make_address(options.address, error);
  if (error) return fail(Errc::invalid_input, "listening: '" + options.address + "' is not an IP address");
  const auto listener = std::make_shared<Listener>(executor);
  const auto open = [&](const asio::ip::address& on, bool both) {
    auto& acceptor = listener->acceptor;
    error_code ignored;
    acceptor.close(ignored);
    const tcp::endpoint endpoint(on, port);
    acceptor.open(endpoint.protocol(), error);
    if (error) return false;
    acceptor.set_option(tcp::acceptor::reuse_address(true), ignored);
    if (both) acceptor.set_option(asio::ip::v6_only(false), ignored);
    acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    return !error;
  };
  // A machine without IPv6 still has its IPv4 addresses.
  if (!open(address, every) &&
      !(every && error != asio::error::address_in_use && open(asio::ip::address_v4::any(), false)))
    return fail(Errc::connect, "listening on " + shown + ": " + error.message());
  listener->port = listener->acceptor.local_endpoint().port();
  listeners.push_back(listener);
  if (serving) connections.spawn(accept_loop(listener));
  return listener->port;
}

Result<std::uint16_t> HttpServer::listen() { return impl_->open_listener(impl_->options.port); }

Result<std::uint16_t> HttpServer::open(std::uint16_t port) {
  if (impl_->stopping) return fail(Errc::closed, "the server has stopped");
  return impl_->open_listener(port);
}

void HttpServer::close(std::uint16_t port) {
  std::erase_if(impl_->listeners, [port](const std::shared_ptr<Impl::Listener>& listener) {
    if (listener->port == port) listener->close();
    return listener->port == port;
  });
}

asio::awaitable<void> HttpServer::serve() {
  const auto impl = impl_;
  struct AtEnd {
    Impl& impl;
    ~AtEnd() {
      impl.serving = false;
      impl.ended.set();
    }
  };
  impl->serving = true;
  const AtEnd at_end{*impl};
  for (const auto& listener : impl->listeners) impl->connections.spawn(impl->accept_loop(listener));
  co_await impl->connections.join();
}

asio::awaitable<void> HttpServer::stop(Duration grace) {
  const auto impl = impl_;
  impl->stopping = true;
  for (const auto& listener : impl->listeners) listener->close();
  for (ServerConnection* connection : impl->occupancy.connections())
    if (auto* session = static_cast<Impl::Session*>(connection); session->idle && session->stream)
      session->stream->close();
  if (!impl->serving) co_return;
  const bool done = co_await impl->ended.wait_for(impl->clock, grace);
  if (done) co_return;
  impl->connections.cancel();
  co_await impl->ended.wait();
}

void HttpServer::replace_tls(TlsContext context) {
  if (impl_->options.tls) impl_->options.tls = std::move(context);
}

void HttpServer::forget_clients() {
  for (ServerConnection* connection : impl_->occupancy.connections()) {
    auto* session = static_cast<Impl::Session*>(connection);
    session->forgotten = true;
    if (session->known && session->idle && session->stream) session->stream->close();
  }
}

HttpServerCounters HttpServer::counters() const {
  HttpServerCounters counters = impl_->counters;
  counters.connections = impl_->occupancy.connections().size();
  counters.held = impl_->occupancy.held();
  counters.evicted = impl_->occupancy.evictions();
  return counters;
}

}  // namespace kube::net
