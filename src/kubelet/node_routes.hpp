// Reads paths of the kubelet API that name no pod: they are about the node whose port is called.
#pragma once

#include "kubelet/routes.hpp"

namespace liqo::kubelet {

/// The route of such a path; nothing for other paths. Refusals: 404 for paths below these, 405 for methods other than
/// GET.
std::optional<std::expected<Route, Refusal>> read_node_route(std::string_view method, std::string_view path);

/// The path of an endpoint that names no pod, as read_node_route() reads it; "" for others.
std::string_view node_path(Endpoint endpoint);

}  // namespace liqo::kubelet
