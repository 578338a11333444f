#include "tls_socket.hpp"

#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>

#include "openssl.hpp"

namespace kube::net {

namespace {

/// What a record holds at most.
constexpr std::size_t max_record = SSL3_RT_MAX_PLAIN_LENGTH;
/// So many records in a row may be read or written without waiting, before the others of the loop have their turn.
constexpr int max_turns_in_a_row = 8;

error_code closed() { return asio::error::operation_aborted; }

}  // namespace

TlsSocket::TlsSocket(tcp::socket socket, SSL_CTX* context) : socket_(std::move(socket)), tls_(SSL_new(context)) {
  BIO* bio = tls_ ? BIO_new(method()) : nullptr;
  if (bio == nullptr) throw std::bad_alloc();
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(tls_.get(), bio, bio);
  // Head and body of a record by one call.
  SSL_set_read_ahead(tls_.get(), 1);
  SSL_set_mode(tls_.get(), SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  error_code ignored;
  socket_.native_non_blocking(true, ignored);
}

// The socket is asked for its handle each time: after it was closed, the number may be that of another file.
int TlsSocket::write_bytes(BIO* bio, const char* bytes, int count) {
  TlsSocket& self = *static_cast<TlsSocket*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const int flags = MSG_NOSIGNAL | (self.more_ ? MSG_MORE : 0);
  const auto sent = ::send(self.socket_.native_handle(), bytes, static_cast<std::size_t>(count), flags);
  if (sent >= 0) {
    self.taken_ += static_cast<std::uint64_t>(sent);
    return static_cast<int>(sent);
  }
  if (errno == EAGAIN || errno == EINTR) {
    BIO_set_retry_write(bio);
  } else {
    self.cause_ = error_code(errno, boost::system::system_category());
  }
  return -1;
}

int TlsSocket::read_bytes(BIO* bio, char* bytes, int count) {
  TlsSocket& self = *static_cast<TlsSocket*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const auto got = ::recv(self.socket_.native_handle(), bytes, static_cast<std::size_t>(count), 0);
  if (got > 0) return static_cast<int>(got);
  if (got == 0) {
    self.at_end_ = true;
    return 0;
  }
  if (errno == EAGAIN || errno == EINTR) {
    BIO_set_retry_read(bio);
  } else {
    self.cause_ = error_code(errno, boost::system::system_category());
  }
  return -1;
}

long TlsSocket::control(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return static_cast<TlsSocket*>(BIO_get_data(bio))->at_end_ ? 1 : 0;
  return 0;
}

const BIO_METHOD* TlsSocket::method() {
  static const BIO_METHOD* const made = [] {
    BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    if (method == nullptr) throw std::bad_alloc();
    BIO_meth_set_write(method, write_bytes);
    BIO_meth_set_read(method, read_bytes);
    BIO_meth_set_ctrl(method, control);
    return method;
  }();
  return made;
}

TlsSocket::Next TlsSocket::judge(int result, error_code& error) {
  const int what = SSL_get_error(tls_.get(), result);
  switch (what) {
    case SSL_ERROR_NONE:
      return Next::done;
    case SSL_ERROR_WANT_READ:
      return Next::readable;
    case SSL_ERROR_WANT_WRITE:
      return Next::writable;
    case SSL_ERROR_ZERO_RETURN:
      error = asio::error::eof;
      return Next::failed;
    default:
      break;
  }
  const unsigned long code = ERR_get_error();
  if (what == SSL_ERROR_SSL && ERR_GET_REASON(code) != SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    error = error_code(static_cast<int>(code), asio::error::get_ssl_category());
  } else {
    error = cause_ ? cause_ : error_code(asio::ssl::error::stream_truncated);
  }
  return Next::failed;
}

asio::awaitable<error_code> TlsSocket::wait(Next next) {
  error_code error;
  const auto until = next == Next::readable ? tcp::socket::wait_read : tcp::socket::wait_write;
  co_await socket_.async_wait(until, asio::redirect_error(asio::use_awaitable, error));
  co_return error;
}

// Called before an operation, not after it: a cancellation in between must not lose what was read.
asio::awaitable<void> TlsSocket::give_way(int& turns) {
  if (++turns < max_turns_in_a_row) co_return;
  turns = 0;
  co_await asio::post(socket_.get_executor(), asio::use_awaitable);
}

asio::awaitable<error_code> TlsSocket::handshake(Role role) {
  if (role == Role::client) {
    SSL_set_connect_state(tls_.get());
  } else {
    SSL_set_accept_state(tls_.get());
  }
  while (true) {
    if (!socket_.is_open()) co_return closed();
    ERR_clear_error();
    error_code error;
    const Next next = judge(SSL_do_handshake(tls_.get()), error);
    if (next == Next::done || next == Next::failed) co_return error;
    if (const error_code ended = co_await wait(next)) co_return ended;
  }
}

asio::awaitable<error_code> TlsSocket::read_some(std::span<char> buffer, std::size_t& count) {
  count = 0;
  co_await give_way(reads_);
  if (read_failure_) co_return read_failure_;
  while (count < buffer.size()) {
    if (!socket_.is_open()) co_return closed();
    ERR_clear_error();
    std::size_t got = 0;
    error_code error;
    const int result = SSL_read_ex(tls_.get(), buffer.data() + count, buffer.size() - count, &got);
    const Next next = judge(result, error);
    if (next == Next::done) {
      count += got;
      // What is not here yet is not asked for: most often the socket would have nothing.
      if (SSL_has_pending(tls_.get()) == 0) break;
      continue;
    }
    if (count > 0) {
      read_failure_ = error;
      break;
    }
    if (next == Next::failed) co_return error;
    reads_ = 0;
    if (const error_code ended = co_await wait(next)) co_return ended;
  }
  co_return error_code();
}

asio::awaitable<error_code> TlsSocket::write(std::string_view bytes) {
  while (!bytes.empty()) {
    co_await give_way(writes_);
    const std::string_view record = bytes.substr(0, max_record);
    bytes.remove_prefix(record.size());
    while (true) {
      if (!socket_.is_open()) co_return closed();
      // Waits within a record are for the same bytes again.
      more_ = !bytes.empty();
      ERR_clear_error();
      std::size_t sent = 0;
      error_code error;
      const Next next = judge(SSL_write_ex(tls_.get(), record.data(), record.size(), &sent), error);
      more_ = false;
      if (next == Next::done) break;
      if (next == Next::failed) co_return error;
      writes_ = 0;
      if (const error_code ended = co_await wait(next)) co_return ended;
    }
  }
  co_return error_code();
}

void TlsSocket::say_goodbye() {
  const openssl::Bio record(BIO_new(BIO_s_mem()));
  if (!record || !socket_.is_open()) return;
  ERR_clear_error();
  BIO_up_ref(record.get());
  SSL_set0_wbio(tls_.get(), record.get());  // nothing else is written any more
  static_cast<void>(SSL_shutdown(tls_.get()));
  ERR_clear_error();
  const char* bytes = nullptr;
  const long count = BIO_get_mem_data(record.get(), &bytes);
  if (count <= 0) return;
  const auto sent =
      ::send(socket_.native_handle(), bytes, static_cast<std::size_t>(count), MSG_NOSIGNAL | MSG_DONTWAIT);
  static_cast<void>(sent);
}

bool TlsSocket::is_quiet() {
  if (!socket_.is_open() || read_failure_) return false;
  ERR_clear_error();
  char byte = 0;
  std::size_t count = 0;
  error_code ignored;
  const bool is_quiet = judge(SSL_peek_ex(tls_.get(), &byte, 1, &count), ignored) == Next::readable;
  ERR_clear_error();
  return is_quiet;
}

}  // namespace kube::net
