// The name under which a program is known to a cluster.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "kube/client/api.hpp"

namespace kube {

/// Asks by own_username() once, and remembers the answer. One thread.
class OwnUser {
 public:
  /// `api` outlives it.
  explicit OwnUser(Api& api) : api_(api) {}

  /// Errors: those of own_username(), Errc::protocol if the answer has no name.
  asio::awaitable<Result<std::string>> name();

 private:
  Api& api_;
  std::string name_;
};

}  // namespace kube
