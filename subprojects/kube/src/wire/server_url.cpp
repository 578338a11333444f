#include "kube/wire/server_url.hpp"

#include "kube/base/printable.hpp"
#include "kube/base/scalar.hpp"

namespace kube::wire {

namespace {

std::unexpected<Failure> refuse(std::string_view url, std::string_view why) {
  return fail(Errc::invalid_input, "server URL '" + printable(cut_text(url, 256)) + "' " + std::string(why));
}

bool is_plain(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f || c == '\\') return false;
  return true;
}

}  // namespace

std::string ServerUrl::host_port() const {
  const bool bracket = host.contains(':');
  return (bracket ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string ServerUrl::text() const { return (tls ? "https://" : "http://") + host_port() + path; }

std::string ServerUrl::authority() const {
  const std::string full = host_port();
  return port == (tls ? 443 : 80) ? full.substr(0, full.rfind(':')) : full;
}

Result<ServerUrl> parse_server_url(std::string_view text) {
  ServerUrl url;
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
    url.tls = false;
    url.port = 80;
  } else {
    return refuse(text, "must begin with https:// or http://");
  }
  if (!is_plain(rest)) return refuse(text, "has characters that a URL cannot have");
  if (rest.find_first_of("?#") != std::string_view::npos) return refuse(text, "must not have a query or a fragment");

  const auto slash = rest.find('/');
  std::string_view authority = rest.substr(0, slash);
  std::string_view path = slash == std::string_view::npos ? std::string_view() : rest.substr(slash);
  while (path.ends_with('/')) path.remove_suffix(1);
  url.path = path;
  if (authority.contains('@')) return refuse(text, "must not have a user name");

  std::string_view port;
  if (authority.starts_with('[')) {
    const auto end = authority.find(']');
    if (end == std::string_view::npos) return refuse(text, "has a '[' without ']'");
    url.host = authority.substr(1, end - 1);
    port = authority.substr(end + 1);
    if (url.host.find_first_not_of("0123456789abcdefABCDEF:.") != std::string::npos || !url.host.contains(':'))
      return refuse(text, "has no IPv6 address between its brackets");
  } else {
    const auto colon = authority.find(':');
    url.host = authority.substr(0, colon);
    if (colon != std::string_view::npos) port = authority.substr(colon);
    if (url.host.find_first_of("[]") != std::string::npos) return refuse(text, "has a bracket in its host name");
  }
  if (url.host.empty()) return refuse(text, "has no host");
  if (url.host.size() > 253) return refuse(text, "has a host name of more than 253 characters");
  if (!port.empty()) {
    const auto number = read_number<std::uint16_t>(port.substr(1));
    if (port.front() != ':' || !number || *number == 0) return refuse(text, "has no port between 1 and 65535");
    url.port = *number;
  }
  return url;
}

}  // namespace kube::wire
