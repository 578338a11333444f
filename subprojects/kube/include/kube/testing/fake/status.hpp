// The refusals of the fake API server: the Status documents of the real one.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "kube/base/json.hpp"

namespace kube::testing {

/// A request that is not carried out.
struct Refusal {
  int code = 500;
  std::string reason;
  std::string message;
  json::object details;

  /// The Status document.
  json::object document() const;
};

template <class T = void>
using Answer = std::expected<T, Refusal>;

namespace refuse {

/// The object that a refusal is about.
struct About {
  std::string_view group, kind, name;
};

/// 400.
std::unexpected<Refusal> bad_request(std::string message);
/// 404: there is no such object.
std::unexpected<Refusal> not_found(std::string_view group, std::string_view plural, std::string_view name);
/// 404: the path names nothing this server knows (e.g. a custom resource whose definition is not installed).
std::unexpected<Refusal> no_such_path();
/// 409, with the reason AlreadyExists.
std::unexpected<Refusal> already_exists(std::string_view group, std::string_view plural, std::string_view name);
/// 409, with the reason Conflict.
std::unexpected<Refusal> conflict(std::string_view group, std::string_view plural, std::string_view name,
                                  std::string_view why);
/// 409: the conflict of optimistic locking.
std::unexpected<Refusal> stale(std::string_view group, std::string_view plural, std::string_view name);
/// 422, with one cause.
std::unexpected<Refusal> invalid(const About& object, std::string_view field, std::string_view why);
/// 410: the version is compacted, or the page of a list is forgotten.
std::unexpected<Refusal> expired(std::string message);
/// 415.
std::unexpected<Refusal> unsupported_media_type(std::string_view media);
/// 405.
std::unexpected<Refusal> method_not_allowed();
/// 429, with how long the client is to wait.
Refusal too_many_requests(int retry_after_seconds);
/// 500.
Refusal internal_error(std::string message);
/// 503.
Refusal unavailable();

}  // namespace refuse
}  // namespace kube::testing
