// The address of an API server as a kubeconfig writes it, taken apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"

namespace kube::wire {

/// scheme://host[:port][/path]
struct ServerUrl {
  bool tls = true;   ///< https
  std::string host;  ///< name or IP literal, an IPv6 address without its brackets
  std::uint16_t port = 443;
  std::string path;  ///< in front of every request's target: "" or "/a/b", without a slash at the end

  /// "host:port" for messages, with brackets around an IPv6 address.
  std::string host_port() const;
  /// scheme://host:port[/path], as parse_server_url() reads it.
  std::string text() const;
  /// The value of the header `host` (`:authority`): the port is left out if it is the scheme's own.
  std::string authority() const;
  bool operator==(const ServerUrl&) const = default;
};

/// Reads an http or https URL; user names, queries and fragments are refused. Errors: Errc::invalid_input.
Result<ServerUrl> parse_server_url(std::string_view text);

}  // namespace kube::wire
