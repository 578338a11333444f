// A TCP socket for tests that send and receive exact bytes.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <string_view>

namespace kube::test {

namespace asio = boost::asio;

class RawSocket {
 public:
  explicit RawSocket(const asio::any_io_executor& executor) : socket_(executor) {}
  explicit RawSocket(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}

  asio::awaitable<void> connect(std::uint16_t port) {
    co_await socket_.async_connect({asio::ip::address_v4::loopback(), port}, asio::use_awaitable);
    socket_.set_option(asio::ip::tcp::no_delay(true));
  }
  /// Errors are left to the reading side: a server may close while it is being talked to.
  asio::awaitable<void> send(std::string bytes) {
    boost::system::error_code ignored;
    co_await asio::async_write(socket_, asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, ignored));
  }
  /// At least one byte, "" = end.
  asio::awaitable<std::string> read_some() {
    std::string buffer(16384, '\0');
    boost::system::error_code error;
    const auto count =
        co_await socket_.async_read_some(asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, error));
    buffer.resize(count);
    co_return buffer;
  }
  asio::awaitable<std::string> read_all() {
    std::string all;
    while (true) {
      std::string more = co_await read_some();
      if (more.empty()) co_return all;
      all += more;
    }
  }
  /// Reads until `end` has come; what came is returned (all of it if the peer closed before).
  asio::awaitable<std::string> read_until(std::string_view end) {
    std::string all;
    while (all.find(end) == std::string::npos) {
      std::string more = co_await read_some();
      if (more.empty()) break;
      all += more;
    }
    co_return all;
  }
  void close() { socket_.close(); }
  asio::ip::tcp::socket& socket() { return socket_; }

 private:
  asio::ip::tcp::socket socket_;
};

}  // namespace kube::test
