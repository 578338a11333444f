#include "http1_head.hpp"

#include <algorithm>
#include <boost/beast/http/status.hpp>

namespace kube::net {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
bool is_word(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return c == ' ' || is_control(c); });
}
bool is_value(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return c != '\t' && is_control(c); });
}

}  // namespace

Http1Head Http1Head::request(std::string_view method, std::string_view target) {
  Http1Head head;
  if (!is_word(method) || !is_word(target)) head.fault_ = "the request's path has characters that a URL cannot have";
  head.text_.append(method).append(" ").append(target).append(" HTTP/1.1\r\n");
  return head;
}

Http1Head Http1Head::answer(int status) {
  const auto reason = boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(status));
  Http1Head head;
  head.text_.append("HTTP/1.1 ").append(std::to_string(status)).append(" ").append(reason).append("\r\n");
  return head;
}

Http1Head& Http1Head::add(std::string_view name, std::string_view value) {
  if (fault_.empty() && (!is_word(name) || name.contains(':') || !is_value(value)))
    fault_ = "header '" + std::string(name) + "' has characters that HTTP cannot carry";
  text_.append(name).append(": ").append(value).append("\r\n");
  return *this;
}

Http1Head& Http1Head::add(const Headers& headers) {
  for (const auto& [name, value] : headers) add(name, value);
  return *this;
}

Result<std::string> Http1Head::finish() {
  if (!fault_.empty()) return fail(Errc::invalid_input, std::move(fault_));
  return std::move(text_) + "\r\n";
}

}  // namespace kube::net
