// Parts of URLs: percent-encoding, and the path of a request.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace kube {

/// Percent-encodes everything but the unreserved characters of RFC 3986: for one path segment or one query value.
std::string percent_encode(std::string_view text);
/// The text that was encoded; nothing if a percent sign is not followed by two hexadecimal digits. In a query `+` is a
/// space, too.
std::optional<std::string> percent_decode(std::string_view encoded, bool plus_is_space = false);

/// The path of a request's target, which is what is before its query.
constexpr std::string_view path_of(std::string_view target) { return target.substr(0, target.find('?')); }

/// Builds the target of a request: a path, and "?a=b&c=d" after it.
class RequestTarget {
 public:
  explicit RequestTarget(std::string path) : text_(std::move(path)) {}
  /// Adds a parameter; its value is percent-encoded here, its name is taken as it is.
  RequestTarget& add(std::string_view name, std::string_view value);
  /// Adds a parameter unless its value is "". The value is percent-encoded here, the name is taken as it is.
  RequestTarget& add_if(std::string_view name, std::string_view value) {
    return value.empty() ? *this : add(name, value);
  }
  /// The target; nothing is added afterwards.
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  char separator_ = '?';
};

}  // namespace kube
