// The heads of HTTP/1.1 messages, written. Client and server write theirs here and so refuse the same.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/failure.hpp"
#include "kube/k8s/request.hpp"

namespace kube::net {

/// One head, line by line.
class Http1Head {
 public:
  using Headers = HttpHeaders;
  static Http1Head request(std::string_view method, std::string_view target);
  static Http1Head answer(int status);

  Http1Head& add(std::string_view name, std::string_view value);
  Http1Head& add(const Headers& headers);
  /// The text, the empty line included. Errors: Errc::invalid_input if method or target have a space or a control
  /// character, a name has one of them or a colon, or a value has a control character other than a tab. Such characters
  /// would end the line and begin another one.
  Result<std::string> finish();

 private:
  std::string text_;
  std::string fault_;  ///< the first one
};

}  // namespace kube::net
