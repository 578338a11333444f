// Where consumers reach the API server of a provider. Pure.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Labels of the nodes that run the control plane. The first label that any node has decides.
inline constexpr std::array<std::string_view, 3> control_plane_labels = {
    "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master", "node-role.kubernetes.io/controlplane"};

/// The best address of these nodes: the first ExternalDNS of any, else ExternalIP, InternalDNS, InternalIP, Hostname;
/// an IPv6 address in brackets.
std::optional<std::string> control_plane_address(std::span<const kube::Object> nodes);

/// A host, host:port or URL as a URL: "https://" is put in front where no scheme is. Errors: Errc::invalid_input (a
/// scheme other than https, blanks, nothing).
kube::Result<std::string> api_server_url(std::string_view address);

}  // namespace liqo::core
