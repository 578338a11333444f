// An HTTP/2 server on a TLS socket of 127.0.0.1 for tests, with the faults that tests want.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <list>

#include "kube/async/task_group.hpp"
#include "support/h2_server.hpp"
#include "support/pki.hpp"
#include "support/raw_socket.hpp"

namespace kube::test {

class TlsH2Server {
 public:
  using Tls = asio::ssl::stream<asio::ip::tcp::socket>;

  /// One accepted connection.
  struct Connection {
    Connection(asio::ip::tcp::socket socket, asio::ssl::context& context, std::uint32_t streams)
        : tls(std::move(socket), context), h2(streams), executor(tls.get_executor()) {}
    Tls tls;
    H2Server h2;
    asio::any_io_executor executor;
    std::string pending;
    bool writing = false;
    bool closed = false;
    boost::system::error_code end;  ///< how reading ended
    /// Sends what the session has to say; called after each change.
    asio::awaitable<void> flush() {
      pending += h2.output();
      if (writing) co_return;
      writing = true;
      while (!pending.empty()) {
        const std::string out = std::exchange(pending, {});
        boost::system::error_code error;
        co_await asio::async_write(tls, asio::buffer(out), asio::redirect_error(asio::use_awaitable, error));
        if (error) break;
        pending += h2.output();
      }
      writing = false;
    }
    void drop() {
      boost::system::error_code ignored;
      closed = true;
      tls.next_layer().close(ignored);
    }
  };

  /// What is done with a complete request.
  std::function<void(Connection&, std::int32_t, const H2Server::Request&)> on_request;
  std::uint32_t max_streams = 100;
  bool silent = false;  ///< reads and says nothing any more
  std::string instead;  ///< sent after the handshake in place of HTTP/2
  std::list<Connection> connections;
  int accepted = 0;

  TlsH2Server(const asio::any_io_executor& executor, const net::KeyAndCertificate& identity, bool offer_http2 = true)
      : group_(executor, async::TaskGroup::OnFailure::keep_others),
        acceptor_(executor),
        context_(asio::ssl::context::tls_server),
        http2_(offer_http2) {
    context_.use_certificate_chain(asio::buffer(identity.certificate_pem));
    context_.use_private_key(asio::buffer(identity.key_pem), asio::ssl::context::pem);
    SSL_CTX_set_alpn_select_cb(
        context_.native_handle(),
        [](SSL*, const unsigned char** out, unsigned char* length, const unsigned char* in, unsigned in_length,
           void* self) -> int {
          static constexpr unsigned char h2[] = "\x02h2";
          unsigned char* chosen = nullptr;
          if (!static_cast<TlsH2Server*>(self)->http2_ ||
              SSL_select_next_proto(&chosen, length, h2, 3, in, in_length) != OPENSSL_NPN_NEGOTIATED)
            return SSL_TLSEXT_ERR_NOACK;
          *out = chosen;
          return SSL_TLSEXT_ERR_OK;
        },
        this);
    open(0);
  }
  std::uint16_t port() const { return port_; }
  void close_port() { acceptor_.close(); }
  void open_port() { open(port_); }
  asio::awaitable<void> stop() {
    for (Connection& connection : connections) connection.drop();
    co_await group_.stop();
  }
  async::TaskGroup& group() { return group_; }

 private:
  void open(std::uint16_t port) {
    acceptor_ = asio::ip::tcp::acceptor(acceptor_.get_executor(), {asio::ip::address_v4::loopback(), port});
    port_ = acceptor_.local_endpoint().port();
    group_.spawn(accept());
  }
  asio::awaitable<void> accept() {
    while (true) {
      boost::system::error_code error;
      asio::ip::tcp::socket socket(acceptor_.get_executor());
      co_await acceptor_.async_accept(socket, asio::redirect_error(asio::use_awaitable, error));
      if (error) co_return;
      ++accepted;
      group_.spawn(serve(connections.emplace_back(std::move(socket), context_, max_streams)));
    }
  }
  asio::awaitable<void> serve(Connection& connection) {
    boost::system::error_code error;
    co_await connection.tls.async_handshake(asio::ssl::stream_base::server,
                                            asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return;
    if (!instead.empty()) {
      co_await asio::async_write(connection.tls, asio::buffer(instead),
                                 asio::redirect_error(asio::use_awaitable, error));
    } else {
      connection.h2.on_request = [this, &connection](H2Server&, std::int32_t id, const H2Server::Request& request) {
        if (on_request) on_request(connection, id, request);
      };
      co_await connection.flush();
    }
    std::string buffer(16384, '\0');
    while (!connection.closed) {
      const auto count = co_await connection.tls.async_read_some(asio::buffer(buffer),
                                                                 asio::redirect_error(asio::use_awaitable, error));
      connection.end = error;
      if (error) break;
      if (!instead.empty()) continue;
      connection.h2.feed(std::string_view(buffer).substr(0, count));
      if (!silent && !connection.closed) group_.spawn(connection.flush());
    }
    connection.drop();
  }

  async::TaskGroup group_;
  asio::ip::tcp::acceptor acceptor_;
  asio::ssl::context context_;
  bool http2_;
  std::uint16_t port_ = 0;
};

}  // namespace kube::test
