// TLS over a TCP socket: OpenSSL reads and writes the socket itself, so that a record is copied once on its way and a
// connection on which nothing happens holds no buffers.
#pragma once

#include <openssl/ssl.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace kube::net {

namespace asio = boost::asio;
using boost::asio::ip::tcp;
using boost::system::error_code;

/// One reader and one writer at a time. Operations that need not wait answer at once; now and then they let the others
/// of the loop have their turn first. Errors are those of Asio: `eof` if the peer has said that it is the end,
/// `stream_truncated` if it has not, `operation_aborted` after a cancellation or close_socket(). A write that was
/// cancelled may have left half a record: nothing can be written after it.
class TlsSocket {
 public:
  enum class Role : std::uint8_t { client, server };

  TlsSocket(tcp::socket socket, SSL_CTX* context);
  TlsSocket(const TlsSocket&) = delete;
  TlsSocket& operator=(const TlsSocket&) = delete;

  SSL* tls() { return tls_.get(); }
  tcp::socket& socket() { return socket_; }

  asio::awaitable<error_code> handshake(Role role);
  /// Reads what there is of as many records as fit in; `count` is 0 if it fails.
  asio::awaitable<error_code> read_some(std::span<char> buffer, std::size_t& count);
  /// Writes all of it, in as few records as hold it.
  asio::awaitable<error_code> write(std::string_view bytes);
  /// Sends the peer the end of the data (close_notify), in one piece or not at all, and without waiting. Nothing can be
  /// written afterwards.
  void say_goodbye();
  /// True while there is nothing to read, not even the end. What the peer has said to TLS alone, such as its tickets,
  /// is taken in. Not while a read is pending.
  bool is_quiet();
  /// Bytes of records that the system has taken for sending.
  std::uint64_t bytes_taken() const { return taken_; }

 private:
  enum class Next : std::uint8_t { done, readable, writable, failed };

  /// What is to happen after a call of OpenSSL; if it failed, `error` says why.
  Next judge(int result, error_code& error);
  asio::awaitable<error_code> wait(Next next);
  asio::awaitable<void> give_way(int& turns);

  static int write_bytes(BIO* bio, const char* bytes, int count);
  static int read_bytes(BIO* bio, char* bytes, int count);
  static long control(BIO* bio, int command, long number, void* pointer);
  static const BIO_METHOD* method();

  struct Free {
    void operator()(SSL* tls) const { SSL_free(tls); }
  };

  tcp::socket socket_;
  error_code cause_;         // why the socket failed
  bool at_end_ = false;      // the peer sends no more
  bool more_ = false;        // what is sent is not the end of what is to be sent
  error_code read_failure_;  // for the next read, if something came before it
  int reads_ = 0, writes_ = 0;
  std::uint64_t taken_ = 0;
  std::unique_ptr<SSL, Free> tls_;
};

}  // namespace kube::net
