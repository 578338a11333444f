// Expected failures as values: what went wrong, in which phase, and what the server said about it.
#pragma once

#include <concepts>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kube/base/status.hpp"

namespace kube {

/// The kinds of failure that callers distinguish. Everything else is in the text.
enum class Errc {
  invalid_input,  ///< what we were given (flag, file, object) cannot be used
  parse,          ///< bytes that do not have the form they should have
  too_large,      ///< a limit on size, count or depth was passed
  protocol,       ///< the peer broke the protocol
  connect,        ///< name look-up, TCP connect, or the connection broke before the request was sent
  tls,            ///< the TLS handshake failed: the peer is not who it should be, or refuses us
  timeout,        ///< a deadline passed
  closed,         ///< the connection or stream ended while it was in use: the request may have been carried out
  api,            ///< the server answered with a status other than 2xx: see status()
  unsupported,    ///< recognised, and refused on purpose
  missing,        ///< something that is needed is not there (file, Secret, key)
  stopped,        ///< this process is shutting down, or no longer the leader
};

/// The name of a kind of failure as logs and metrics show it, e.g. "timeout".
std::string_view to_string(Errc code);

/// A failure with its context. Cheap to move. Text from a peer may be in it: Log escapes that, and other output needs
/// printable().
class [[nodiscard]] Failure {
 public:
  Failure(Errc code, std::string text) : code_(code), text_(std::move(text)) {}
  /// The failure that an answer of the API server reports; its text is the server's message, or reason and code if it
  /// gave none.
  static Failure from_status(Status status);

  Errc code() const { return code_; }
  /// One line: phases from the outermost to the cause, joined by ": ".
  const std::string& text() const { return text_; }
  /// The server's answer, or nullptr if no server answered.
  const Status* status() const { return status_.get(); }
  /// HTTP status code of the server's answer, 0 if there was none.
  int http_code() const { return status_ ? status_->code : 0; }

  bool is_not_found() const { return http_code() == 404; }
  bool is_already_exists() const { return status_ && status_->reason == "AlreadyExists"; }
  /// An optimistic-locking conflict: read again, decide again.
  bool is_conflict() const { return http_code() == 409 && !is_already_exists(); }
  /// The resource version is too old to continue from (410 Gone, or reason Expired).
  bool is_expired() const { return http_code() == 410 || (status_ && status_->reason == "Expired"); }
  bool is_forbidden() const { return http_code() == 403; }
  /// The server will refuse the same request again: 4xx other than 401, 408, 409, 410, 425 and 429.
  bool is_permanent() const;

  /// The same failure with one more phase in front: "watching pods: <text>".
  Failure in(std::string_view phase) const& { return Failure(*this).in_place(phase); }
  Failure in(std::string_view phase) && { return std::move(in_place(phase)); }

 private:
  Failure& in_place(std::string_view phase);
  Errc code_;
  std::string text_;
  std::shared_ptr<const Status> status_;
};

template <class T = void>
using Result = std::expected<T, Failure>;

/// Shorthand for `std::unexpected(Failure(code, text))`.
inline std::unexpected<Failure> fail(Errc code, std::string text) {
  return std::unexpected(Failure(code, std::move(text)));
}
/// Shorthand to pass a failure on with one more phase in front.
inline std::unexpected<Failure> fail(Failure failure, std::string_view phase) {
  return std::unexpected(std::move(failure).in(phase));
}

/// A failure on its way to the caller: what KUBE_TRY returns. It converts to the type by which the function fails: a
/// Result or another std::expected, or an Outcome that is tried again. A coroutine constructs its Result from it
/// directly. So a type other than Outcome that can be constructed from a PassedOn would become the value of a Result
/// that has not failed.
template <class E>
struct [[nodiscard]] PassedOn {
  E failure;

  template <class T, class G>
    requires std::convertible_to<E&&, G>
  operator std::expected<T, G>() && {  // NOLINT(google-explicit-constructor)
    return std::unexpected<G>(std::in_place, std::move(failure));
  }
};

template <class E>
PassedOn<E> pass_on(E failure) {
  return {std::move(failure)};
}
/// `phase`: see Failure::in.
inline PassedOn<Failure> pass_on(Failure failure, std::string_view phase) { return {std::move(failure).in(phase)}; }

}  // namespace kube

#define KUBE_JOIN_IMPL(left, right) left##right
#define KUBE_JOIN(left, right) KUBE_JOIN_IMPL(left, right)
#define KUBE_TRYV_IMPL(leave, tried, expression, ...) \
  if (auto tried = (expression); !tried) leave ::kube::pass_on(std::move(tried.error()) __VA_OPT__(, ) __VA_ARGS__)
#define KUBE_TRY_IMPL(leave, tried, name, expression, ...)                                \
  auto tried = (expression);                                                              \
  if (!tried) leave ::kube::pass_on(std::move(tried.error()) __VA_OPT__(, ) __VA_ARGS__); \
  auto& name = *tried

/// KUBE_TRY(name, expression[, phase]) declares `name` as the value of a Result (or another std::expected), which lives
/// until the end of the block. If the Result has failed, the function returns its failure, with `phase` in front of the
/// text. `name` is an lvalue reference: return it by std::move(name), or it is copied. KUBE_TRYV(expression[, phase])
/// is for a Result whose value nobody needs. KUBE_CO_TRY and KUBE_CO_TRYV are for coroutines. KUBE_TRY and KUBE_CO_TRY
/// are several statements, so they stand in a block, and no else follows the others. Their names are those of
/// Boost.Outcome's macros.
#define KUBE_TRY(...) KUBE_TRY_IMPL(return, KUBE_JOIN(kube_tried_, __LINE__), __VA_ARGS__)
#define KUBE_TRYV(...) KUBE_TRYV_IMPL(return, KUBE_JOIN(kube_tried_, __LINE__), __VA_ARGS__)
#define KUBE_CO_TRY(...) KUBE_TRY_IMPL(co_return, KUBE_JOIN(kube_tried_, __LINE__), __VA_ARGS__)
#define KUBE_CO_TRYV(...) KUBE_TRYV_IMPL(co_return, KUBE_JOIN(kube_tried_, __LINE__), __VA_ARGS__)
