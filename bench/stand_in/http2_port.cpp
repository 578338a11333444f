#include "http2_port.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "support/h2_server.hpp"

namespace liqo::bench {

namespace {

using asio::ip::tcp;
using boost::system::error_code;
using kube::test::H2Server;

/// The most streams at a time on one connection, as many as an API server allows.
constexpr std::uint32_t max_streams = 100;

int choose_http2(SSL*, const unsigned char** out, unsigned char* out_length, const unsigned char* offered,
                 unsigned int length, void*) {
  static constexpr unsigned char http2[] = "\x02h2";
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_length, http2, sizeof(http2) - 1, offered, length) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

kube::HttpRequest request_of(const H2Server::Request& received) {
  kube::HttpRequest request;
  for (const auto& [name, value] : received.headers) {
    if (name == ":method") request.method = value;
    if (name == ":path") request.target = value;
    if (!name.starts_with(':')) request.headers.emplace_back(name, value);
  }
  request.body = received.body;
  return request;
}

}  // namespace

struct Http2Port::Connection : std::enable_shared_from_this<Connection> {
  Connection(tcp::socket socket, asio::ssl::context& context, kube::async::TaskGroup& owner)
      : tls(std::move(socket), context), h2(max_streams), tasks(owner) {}

  /// Sends the pending bytes of the session in a later turn, because the session may be in the middle of reading.
  void say() {
    if (writing || closed) return;
    writing = true;
    tasks.spawn(write_all(shared_from_this()));
  }
  static asio::awaitable<void> write_all(std::shared_ptr<Connection> connection) {
    co_await asio::post(asio::use_awaitable);
    for (std::string out = connection->h2.output(); !out.empty() && !connection->closed;
         out = connection->h2.output()) {
      error_code error;
      co_await asio::async_write(connection->tls, asio::buffer(out), asio::redirect_error(asio::use_awaitable, error));
      if (error) connection->close();
    }
    connection->writing = false;
  }
  void close() {
    error_code ignored;
    closed = true;
    tls.next_layer().close(ignored);
  }

  asio::ssl::stream<tcp::socket> tls;
  H2Server h2;
  kube::async::TaskGroup& tasks;
  bool writing = false, closed = false;
};

class Http2Port::StreamAnswer final : public Answer {
 public:
  StreamAnswer(const std::shared_ptr<Connection>& connection, std::int32_t stream)
      : connection_(connection), stream_(stream) {}

  void begin(int status, const Headers& headers) override {
    const auto connection = connection_.lock();
    if (!connection || connection->closed) return;
    connection->h2.head(stream_, status, headers);
    connection->say();
  }
  void more(std::string_view bytes) override { push(bytes, false); }
  void end() override { push({}, true); }
  bool is_wanted() const override {
    const auto connection = connection_.lock();
    return connection && !connection->closed && connection->h2.is_answering(stream_);
  }
  std::size_t waiting() const override {
    const auto connection = connection_.lock();
    return connection ? connection->h2.waiting(stream_) : 0;
  }

 private:
  void push(std::string_view bytes, bool last) {
    const auto connection = connection_.lock();
    if (!connection || connection->closed || !connection->h2.is_answering(stream_)) return;
    connection->h2.push(stream_, bytes, last);
    connection->say();
  }

  std::weak_ptr<Connection> connection_;
  std::int32_t stream_;
};

Http2Port::Http2Port(asio::any_io_executor executor, const tcp::endpoint& endpoint, const std::string& certificate,
                     const std::string& key, Handler handler)
    : tasks_(executor, kube::async::TaskGroup::OnFailure::keep_others),
      acceptor_(executor, endpoint),
      context_(asio::ssl::context::tls_server),
      handler_(std::move(handler)) {
  context_.use_certificate_chain_file(certificate);
  context_.use_private_key_file(key, asio::ssl::context::pem);
  SSL_CTX_set_alpn_select_cb(context_.native_handle(), choose_http2, nullptr);
}

asio::awaitable<void> Http2Port::serve() {
  while (true) {
    tcp::socket socket = co_await acceptor_.async_accept(asio::use_awaitable);
    socket.set_option(tcp::no_delay(true));
    tasks_.spawn(serve_one(std::make_shared<Connection>(std::move(socket), context_, tasks_)));
  }
}

asio::awaitable<void> Http2Port::serve_one(std::shared_ptr<Connection> connection) {
  error_code error;
  co_await connection->tls.async_handshake(asio::ssl::stream_base::server,
                                           asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return;
  connection->h2.on_request = [this, &connection](H2Server&, std::int32_t stream, const H2Server::Request& received) {
    handler_(request_of(received), std::make_shared<StreamAnswer>(connection, stream));
  };
  connection->say();
  std::string buffer(16384, '\0');
  while (!connection->closed) {
    const std::size_t count = co_await connection->tls.async_read_some(
        asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, error));
    if (error || !connection->h2.feed(std::string_view(buffer).substr(0, count))) break;
    connection->say();
  }
  connection->close();
}

}  // namespace liqo::bench
