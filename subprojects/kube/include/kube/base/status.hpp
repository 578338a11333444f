// The part of a Kubernetes `Status` (meta/v1) that decisions and messages need.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace kube {

/// One entry of `details.causes`.
struct StatusCause {
  std::string reason;   ///< machine readable, e.g. "FieldValueInvalid"
  std::string message;  ///< for people
  std::string field;    ///< JSON path of the field, may be empty
};

/// What an API server said about a request that it did not carry out.
struct Status {
  int code = 0;         ///< HTTP status code
  std::string reason;   ///< e.g. "NotFound", "AlreadyExists", "Conflict"; empty when the server gave none
  std::string message;  ///< the server's words
  std::vector<StatusCause> causes;
  std::optional<std::chrono::seconds> retry_after;  ///< header Retry-After or `details.retryAfterSeconds`
};

}  // namespace kube
