#include "kube/base/failure.hpp"

namespace kube {

std::string_view to_string(Errc code) {
  switch (code) {
    case Errc::invalid_input:
      return "invalid_input";
    case Errc::parse:
      return "parse";
    case Errc::too_large:
      return "too_large";
    case Errc::protocol:
      return "protocol";
    case Errc::connect:
      return "connect";
    case Errc::tls:
      return "tls";
    case Errc::timeout:
      return "timeout";
    case Errc::closed:
      return "closed";
    case Errc::api:
      return "api";
    case Errc::unsupported:
      return "unsupported";
    case Errc::missing:
      return "missing";
    case Errc::stopped:
      return "stopped";
  }
  return "unknown";
}

Failure Failure::from_status(Status status) {
  std::string text = status.message;
  if (text.empty()) {
    text = "the server answered " + std::to_string(status.code);
    if (!status.reason.empty()) text += " (" + status.reason + ")";
  }
  Failure failure(Errc::api, std::move(text));
  failure.status_ = std::make_shared<const Status>(std::move(status));
  return failure;
}

bool Failure::is_permanent() const {
  const int code = http_code();
  if (code < 400 || code >= 500) return false;
  return code != 401 && code != 408 && code != 409 && code != 410 && code != 425 && code != 429;
}

Failure& Failure::in_place(std::string_view phase) {
  text_.insert(0, ": ").insert(0, phase);
  return *this;
}

}  // namespace kube
