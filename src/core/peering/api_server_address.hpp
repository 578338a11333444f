// Where consumers reach the API server of a provider. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The best address of these nodes: the first ExternalDNS of any, else ExternalIP, InternalDNS, InternalIP, Hostname;
/// an IPv6 address in brackets.
std::optional<std::string> control_plane_address(std::span<const kube::Object> nodes);

/// A host, host:port or URL as a URL: "https://" is put in front if it has no scheme. Errors: Errc::invalid_input (a
/// scheme other than https, blanks, nothing).
kube::Result<std::string> api_server_url(std::string_view address);

}  // namespace liqo::core
