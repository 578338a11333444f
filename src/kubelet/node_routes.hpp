// Paths of the kubelet API that name no pod: they are of the node whose port is asked.
#pragma once

#include "kubelet/routes.hpp"

namespace liqo::kubelet {

/// Nothing where the path is none of these. Refusals: 404 for what is below them, 405 for other methods than GET.
std::optional<std::expected<Route, Refusal>> read_node_route(std::string_view method, std::string_view path);

/// The path of an endpoint that names no pod, as read_node_route() reads it; "" for others.
std::string_view node_path(Endpoint endpoint);

}  // namespace liqo::kubelet
