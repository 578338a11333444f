// The way to one cluster's API server, over which all of a command goes.
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

/// Makes the way to the server of these credentials. It connects at the first request.
using Connect = std::function<std::unique_ptr<Connection>(std::shared_ptr<kube::net::Credentials>)>;

}  // namespace liqoctl
