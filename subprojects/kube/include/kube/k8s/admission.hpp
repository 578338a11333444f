// An AdmissionReview of admission.k8s.io/v1 as values: the question of an API server, and our answer to it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/json.hpp"
#include "kube/k8s/object.hpp"

namespace kube::admission {

/// Levels of nesting that are read of a review. Kubernetes' own kinds need less than half of it.
inline constexpr std::size_t max_depth = 64;
/// Values that are read of a review, its old object's included; kinds that are reviewed have some thousand at most.
inline constexpr std::size_t max_values = 200'000;
/// Bytes of a denial's text, and of a warning: more than that no terminal shows.
inline constexpr std::size_t max_text = 2'000;

/// What is done to the object. `remove` is DELETE, whose word C++ reserves.
enum class Operation { create, update, remove, connect };
/// As Kubernetes writes it: "CREATE", "UPDATE", "DELETE" or "CONNECT".
std::string_view to_string(Operation operation);

/// Who asks, as the API server has authenticated it.
struct User {
  std::string name;
  std::vector<std::string> groups;
  /// Whether the user is a member of the group.
  bool is_in(std::string_view group) const;
};

/// One question. Objects that are null in the review have an empty tree.
struct Request {
  std::string uid;
  Operation operation = Operation::create;
  std::string group, version, plural, subresource;  ///< of what is written
  std::string ns;                                   ///< "" for cluster-wide kinds
  std::string name;                                 ///< "" if the server still has to make one
  User user;
  bool dry_run = false;
  std::string caller;     ///< IP address that the review came from; "" = an API server, known by its certificate
  std::size_t bytes = 0;  ///< of the review
  Object object;          ///< as it would be stored; empty for Operation::remove
  Object old_object;      ///< as it is stored; empty for Operation::create

  /// Creates or updates, be it the object or a subresource of it.
  bool writes() const { return operation == Operation::create || operation == Operation::update; }
  /// Creates or updates the object itself.
  bool writes_object() const { return writes() && subresource.empty(); }
};

/// Memory that it takes to read that review, at most. Errors: Errc::too_large (more than max_values values).
Result<std::size_t> review_size(std::string_view body);

/// Reads a review. Errors, each in one sentence: Errc::parse (no JSON, nested deeper than max_depth, or not of the form
/// of a review), Errc::unsupported (not admission.k8s.io/v1).
Result<Request> decode_review(std::string_view body);

/// The answer: allowed, perhaps with a JSON patch and warnings, or refused in words for a person.
struct Answer {
  bool allowed = true;
  int code = 200;
  std::string reason;           ///< of meta/v1 Status, e.g. "Forbidden"
  std::string message;          ///< what kubectl shows
  int retry_after_seconds = 0;  ///< with code 503
  json::array patch;            ///< RFC 6902
  std::vector<std::string> warnings;

  static Answer allow() { return {}; }
  /// Forbidden by a rule: 403.
  static Answer deny(std::string message);
  /// The object cannot be what it says: 422.
  static Answer invalid(std::string message);
  /// We cannot decide now: 503, to be tried again after so many seconds.
  static Answer unavailable(std::string message, int retry_after_seconds = 1);
};

/// The review that answers the question with that UID.
std::string encode_review(std::string_view uid, const Answer& answer);

}  // namespace kube::admission
