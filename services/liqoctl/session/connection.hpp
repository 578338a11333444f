// The connection to one cluster's API server, for all requests of a command.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>

#include "kube/net/auth/credentials.hpp"
#include "kube/net/transport.hpp"

namespace liqoctl {

namespace asio = boost::asio;

/// stop() must be awaited before it is destroyed. One thread.
class Connection {
 public:
  virtual ~Connection() = default;
  virtual kube::net::Transport& transport() = 0;
  /// For exec.
  virtual kube::net::Upgrader& upgrader() = 0;
  virtual asio::awaitable<void> stop() = 0;
};

/// Makes a connection to the server of these credentials. It connects at the first request.
using Connect = std::function<std::unique_ptr<Connection>(std::shared_ptr<kube::net::Credentials>)>;

}  // namespace liqoctl
