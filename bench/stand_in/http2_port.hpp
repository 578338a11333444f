// HTTP/2 over TLS on one port, as an API server offers it to the library's client.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/async/task_group.hpp"
#include "kube/k8s/request.hpp"

namespace liqo::bench {

namespace asio = boost::asio;

/// The answer to one request: begin(), more() for each piece, and end(). Calls for a client that has gone do nothing.
class Answer {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;
  virtual ~Answer() = default;
  virtual void begin(int status, const Headers& headers) = 0;
  virtual void more(std::string_view bytes) = 0;
  virtual void end() = 0;
  /// False once the client has gone, or has received the end.
  virtual bool is_wanted() const = 0;
  /// The number of bytes that the client has not taken yet.
  virtual std::size_t waiting() const = 0;
};

/// Does not authenticate callers. One thread.
class Http2Port {
 public:
  /// Called with each complete request. May keep the answer for as long as it likes.
  using Handler = std::function<void(kube::HttpRequest, std::shared_ptr<Answer>)>;

  /// Listens at once. `certificate` and `key` are files (PEM). Throws boost::system::system_error.
  Http2Port(asio::any_io_executor executor, const asio::ip::tcp::endpoint& endpoint, const std::string& certificate,
            const std::string& key, Handler handler);

  /// Accepts and serves without end.
  asio::awaitable<void> serve();

 private:
  struct Connection;
  class StreamAnswer;
  asio::awaitable<void> serve_one(std::shared_ptr<Connection> connection);

  kube::async::TaskGroup tasks_;
  asio::ip::tcp::acceptor acceptor_;
  asio::ssl::context context_;
  Handler handler_;
};

}  // namespace liqo::bench
