// The name under which this process is known to its own cluster.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "kube/client/api.hpp"

namespace liqo::controllers {

namespace asio = boost::asio;

/// Asks once, and remembers the answer.
class OwnUser {
 public:
  /// `home` outlives it.
  explicit OwnUser(kube::Api& home) : home_(home) {}

  asio::awaitable<kube::Result<std::string>> name();

 private:
  kube::Api& home_;
  std::string name_;
};

}  // namespace liqo::controllers
