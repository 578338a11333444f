#include "socket_stream.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>

#include "kube/base/printable.hpp"
#include "openssl.hpp"
#include "subject.hpp"
#include "tcp_silence.hpp"
#include "tls_impl.hpp"
#include "tls_socket.hpp"

namespace kube::net {

namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

/// A cancelled operation throws in its caller; one that our own close() ended is a closed connection.
asio::awaitable<void> throw_if_cancelled(const error_code& error) {
  if (error != asio::error::operation_aborted) co_return;
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) throw boost::system::system_error(error);
}

Failure failure_of(const error_code& error) {
  if (error == asio::error::operation_aborted) return {Errc::closed, "the connection was closed"};
  if (error == ssl::error::stream_truncated) return {Errc::closed, "the peer broke the TLS connection off"};
  if (error.category() == asio::error::get_ssl_category()) {
    const char* reason = ERR_reason_error_string(static_cast<unsigned long>(error.value()));
    std::string text = reason != nullptr ? reason : error.message();
    // With TLS 1.3 the server's verdict on our certificate comes after the handshake, as an alert.
    if (text.contains("alert")) return {Errc::tls, "TLS: the peer refused us: " + text};
    return {Errc::tls, "TLS: " + text};
  }
  if (error == asio::error::connection_reset) return {Errc::closed, "the peer reset the connection"};
  if (error == asio::error::broken_pipe) return {Errc::closed, "the peer has closed the connection"};
  if (error == asio::error::timed_out) return {Errc::closed, "the peer is silent"};
  return {Errc::closed, error.message()};
}

/// The system throws away what has not left when it closes the socket, also when the process ends.
void have_close_reset(int handle) {
  // Not by an option of Asio, whose destructors take it back.
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(handle, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

/// With `resets`, the peer sees that something may be missing, and not an orderly end.
void close_socket(tcp::socket& socket, bool resets) {
  error_code ignored;
  if (!resets) socket.shutdown(tcp::socket::shutdown_both, ignored);
  socket.close(ignored);
}

/// How long what was sent may stay without an acknowledgement, or a peer without room for more; zero: as the system has
/// it.
void set_user_timeout(int handle, Duration timeout) {
  const int milliseconds = static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count());
  ::setsockopt(handle, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof(milliseconds));
}

bool is_cut_off_at(int handle) {
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (::getsockopt(handle, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  return TcpSilence{.retransmits = info.tcpi_retransmits,
                    .last_sent = std::chrono::milliseconds(info.tcpi_last_data_sent),
                    .last_acknowledged = std::chrono::milliseconds(info.tcpi_last_ack_recv),
                    .retransmission_timeout = std::chrono::microseconds(info.tcpi_rto)}
      .is_cut_off();
}

/// Looks at what has come without taking it.
bool is_quiet_at(int handle) {
  char byte = 0;
  return ::recv(handle, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR);
}

/// A plain connection.
class TcpStream final : public ClientStream {
 public:
  TcpStream(tcp::socket socket, std::shared_ptr<Traffic> traffic)
      : socket_(std::move(socket)), traffic_(std::move(traffic)) {}
  ~TcpStream() override { TcpStream::close(); }

  asio::awaitable<Result<std::size_t>> read_some(std::span<char> buffer) override {
    error_code error;
    const std::size_t count = co_await socket_.async_read_some(asio::buffer(buffer.data(), buffer.size()),
                                                               asio::redirect_error(asio::use_awaitable, error));
    if (traffic_ != nullptr) traffic_->bytes_in += count;
    if (!error || count > 0) co_return count;
    if (error == asio::error::eof) co_return std::size_t{0};
    if (error == asio::error::operation_aborted) co_await throw_if_cancelled(error);
    co_return std::unexpected(failure_of(error));
  }

  asio::awaitable<Result<void>> write(std::string_view bytes) override {
    error_code error;
    const std::size_t count = co_await asio::async_write(socket_, asio::buffer(bytes.data(), bytes.size()),
                                                         asio::redirect_error(asio::use_awaitable, error));
    taken_ += count;
    if (traffic_ != nullptr) traffic_->bytes_out += count;
    if (!error) co_return Result<void>();
    if (error == asio::error::operation_aborted) co_await throw_if_cancelled(error);
    co_return std::unexpected(failure_of(error));
  }

  void close() override {
    if (socket_.is_open()) close_socket(socket_, resets_);
  }
  void be_patient() override { set_user_timeout(socket_.native_handle(), Duration::zero()); }
  bool is_cut_off() const override { return is_cut_off_at(socket_.native_handle()); }
  bool is_quiet() override { return socket_.is_open() && is_quiet_at(socket_.native_handle()); }
  std::uint64_t bytes_taken() const override { return taken_; }
  void reset_at_close() override {
    resets_ = true;
    have_close_reset(socket_.native_handle());
  }

 private:
  mutable tcp::socket socket_;  // Asio does not give its handle away otherwise
  std::uint64_t taken_ = 0;
  bool resets_ = false;
  std::shared_ptr<Traffic> traffic_;
};

/// A connection under TLS.
template <class Base>
class TlsStream : public Base {
 public:
  TlsStream(std::unique_ptr<TlsSocket> socket, std::shared_ptr<Traffic> traffic)
      : socket_(std::move(socket)), traffic_(std::move(traffic)) {}
  ~TlsStream() override { TlsStream::close(); }

  asio::awaitable<Result<std::size_t>> read_some(std::span<char> buffer) override {
    std::size_t count = 0;
    const error_code error = co_await socket_->read_some(buffer, count);
    if (traffic_ != nullptr) traffic_->bytes_in += count;
    if (!error) co_return count;
    if (error == asio::error::eof) co_return std::size_t{0};
    if (error == asio::error::operation_aborted) co_await throw_if_cancelled(error);
    co_return std::unexpected(failure_of(error));
  }

  asio::awaitable<Result<void>> write(std::string_view bytes) override {
    is_whole_ = false;
    const error_code error = co_await socket_->write(bytes);
    is_whole_ = !error;
    if (!error) {
      if (traffic_ != nullptr) traffic_->bytes_out += bytes.size();
      co_return Result<void>();
    }
    if (error == asio::error::operation_aborted) co_await throw_if_cancelled(error);
    co_return std::unexpected(failure_of(error));
  }

  void close() override {
    if (!socket_->socket().is_open()) return;
    if (is_whole_ && !resets_) socket_->say_goodbye();
    close_socket(socket_->socket(), resets_);
  }

  void be_patient() override { set_user_timeout(socket_->socket().native_handle(), Duration::zero()); }
  bool is_cut_off() const override { return is_cut_off_at(socket_->socket().native_handle()); }

 protected:
  std::unique_ptr<TlsSocket> socket_;
  std::shared_ptr<Traffic> traffic_;
  bool is_whole_ = true;  ///< every write has got to its end
  bool resets_ = false;
};

class DialedStream final : public TlsStream<ClientStream> {
 public:
  using TlsStream::TlsStream;
  bool is_quiet() override { return socket_->is_quiet(); }
  std::uint64_t bytes_taken() const override { return socket_->bytes_taken(); }
  void reset_at_close() override {
    resets_ = true;
    have_close_reset(socket_->socket().native_handle());
  }
};

class AcceptedStream final : public TlsStream<TlsServerStream> {
 public:
  explicit AcceptedStream(std::unique_ptr<TlsSocket> socket) : TlsStream(std::move(socket), nullptr) {
    is_whole_ = false;
  }

  asio::awaitable<Result<std::optional<CertificateSubject>>> handshake() override {
    const error_code error = co_await socket_->handshake(TlsSocket::Role::server);
    if (error) {
      co_await throw_if_cancelled(error);
      co_return std::unexpected(failure_of(error));
    }
    is_whole_ = true;
    SSL* tls = socket_->tls();
    const openssl::Certificate certificate(SSL_get1_peer_certificate(tls));
    if (!certificate || SSL_get_verify_result(tls) != X509_V_OK) co_return std::nullopt;
    co_return subject_of(certificate.get());
  }
};

bool is_address(const std::string& text) {
  error_code error;
  asio::ip::make_address(text, error);
  return !error;
}

/// Why the peer's certificate was refused, for people. `names` is whom it is for, if that was the reason.
std::string verdict(const std::string& server_name, long result, const std::string& names) {
  std::string text = std::string("the server's certificate was not accepted: ") + X509_verify_cert_error_string(result);
  if (result != X509_V_ERR_HOSTNAME_MISMATCH && result != X509_V_ERR_IP_ADDRESS_MISMATCH) return text;
  return text + ": it is not for '" + server_name + "'" + (names.empty() ? ", it names nobody" : " but for " + names);
}

std::string names_of(const X509* certificate) {
  const CertificateSubject subject = subject_of(certificate);
  std::string names;
  int count = 0;
  for (const auto* list : {&subject.dns_names, &subject.ip_addresses})
    for (const std::string& name : *list)
      if (++count <= 8) names += (names.empty() ? "" : ", ") + printable(cut_text(name, 64));
  return count > 8 ? names + ", ..." : names;
}

/// Notes whom a refused certificate is for.
int note_names(int accepted, X509_STORE_CTX* verification) {
  if (accepted == 1 || X509_STORE_CTX_get_error_depth(verification) != 0) return accepted;
  const auto* tls =
      static_cast<const SSL*>(X509_STORE_CTX_get_ex_data(verification, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* names = tls != nullptr ? static_cast<std::string*>(SSL_get_app_data(tls)) : nullptr;
  const X509* leaf = X509_STORE_CTX_get_current_cert(verification);
  if (names != nullptr && leaf != nullptr) *names = names_of(leaf);
  return accepted;
}

std::string chosen_protocol(SSL* tls) {
  const unsigned char* protocol = nullptr;
  unsigned length = 0;
  SSL_get0_alpn_selected(tls, &protocol, &length);
  return {reinterpret_cast<const char*>(protocol), length};
}

}  // namespace

void tune(tcp::socket& socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  const auto set = [&socket](int option, int value) {
    ::setsockopt(socket.native_handle(), IPPROTO_TCP, option, &value, sizeof(value));
  };
  set(TCP_KEEPIDLE, 15);
  set(TCP_KEEPINTVL, 5);
  set(TCP_KEEPCNT, 3);
  set_user_timeout(socket.native_handle(), std::chrono::seconds(30));
}

std::unique_ptr<ClientStream> make_tcp_stream(tcp::socket socket, std::shared_ptr<Traffic> traffic) {
  return std::make_unique<TcpStream>(std::move(socket), std::move(traffic));
}

asio::awaitable<Result<Secured>> tls_handshake_client(tcp::socket socket, ClientTls how,
                                                      std::shared_ptr<Traffic> traffic) {
  ERR_clear_error();
  auto stream = std::make_unique<TlsSocket>(std::move(socket), how.context.impl()->context.native_handle());
  SSL* session = stream->tls();
  const bool address = is_address(how.server_name);
  if (!address) SSL_set_tlsext_host_name(session, how.server_name.c_str());
  if (how.context.impl()->verify) {
    X509_VERIFY_PARAM* parameters = SSL_get0_param(session);
    // The names that a certificate is for are its alternative ones, as for every client of Kubernetes.
    X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    const int set = address ? X509_VERIFY_PARAM_set1_ip_asc(parameters, how.server_name.c_str())
                            : X509_VERIFY_PARAM_set1_host(parameters, how.server_name.data(), how.server_name.size());
    if (set != 1) co_return fail(Errc::tls, "TLS: '" + how.server_name + "' cannot be checked against a certificate");
  }
  // The certificate is not kept once it was refused, so whom it is for is noted on the way.
  std::string names;
  if (how.context.impl()->verify) {
    SSL_set_app_data(session, &names);
    SSL_set_verify(session, SSL_VERIFY_PEER, note_names);
  }
  static constexpr unsigned char both[] = "\x02h2\x08http/1.1";
  static constexpr unsigned char http1[] = "\x08http/1.1";
  if (how.offers_http2) {
    SSL_set_alpn_protos(session, both, sizeof(both) - 1);
  } else {
    SSL_set_alpn_protos(session, http1, sizeof(http1) - 1);
  }

  const error_code error = co_await stream->handshake(TlsSocket::Role::client);
  SSL_set_app_data(session, nullptr);
  if (error) {
    co_await throw_if_cancelled(error);
    const long result = SSL_get_verify_result(session);
    if (how.context.impl()->verify && result != X509_V_OK)
      co_return fail(Errc::tls, "TLS: " + verdict(how.server_name, result, names));
    Failure failure = failure_of(error);
    if (error == asio::error::eof || error == ssl::error::stream_truncated || failure.code() == Errc::closed)
      co_return fail(Errc::connect, "TLS: the server broke the handshake off");
    if (failure.text().contains("wrong version number"))
      co_return fail(Errc::tls, "TLS: the server does not speak TLS on this port");
    co_return std::unexpected(std::move(failure));
  }
  Secured secured{.stream = nullptr, .protocol = chosen_protocol(session)};
  secured.stream = std::make_unique<DialedStream>(std::move(stream), std::move(traffic));
  co_return secured;
}

std::unique_ptr<TlsServerStream> make_tls_server_stream(tcp::socket socket, const TlsContext& context) {
  return std::make_unique<AcceptedStream>(
      std::make_unique<TlsSocket>(std::move(socket), context.impl()->context.native_handle()));
}

}  // namespace kube::net
