#include "node_routes.hpp"

#include <array>

namespace liqo::kubelet {
namespace {

struct NodePath {
  std::string_view path;
  Endpoint endpoint;
  std::string_view narrower;  // as kubelets name it since Kubernetes 1.33
  std::string_view sentence;
};
constexpr std::array<NodePath, 4> node_paths = {{
    {"/pods", Endpoint::pods, "pods", ""},
    {"/runningpods", Endpoint::running_pods, "pods", ""},
    {"/healthz", Endpoint::healthz, "healthz", ""},
    {"/configz", Endpoint::not_served_yet, "configz",
     "the configuration is not served by virtual nodes: they have no kubelet that could be configured"},
}};

}  // namespace

bool names_pod(Endpoint endpoint) {
  return endpoint == Endpoint::logs || endpoint == Endpoint::exec || endpoint == Endpoint::attach ||
         endpoint == Endpoint::port_forward;
}

std::optional<std::expected<Route, Refusal>> read_node_route(std::string_view method, std::string_view path) {
  for (const NodePath& known : node_paths) {
    if (!path.starts_with(known.path)) continue;
    const std::string_view below = path.substr(known.path.size());
    if (!below.empty() && !below.starts_with('/')) continue;
    if (below.size() > 1) return std::unexpected(Refusal{404, "there is nothing at this path"});
    if (method != "GET") return std::unexpected(Refusal{405, "the method is not allowed here"});
    Route route;
    route.endpoint = known.endpoint;
    route.subresource = "proxy";
    route.narrower = known.narrower;
    route.verb = "get";
    route.sentence = known.sentence;
    return route;
  }
  return std::nullopt;
}

}  // namespace liqo::kubelet
