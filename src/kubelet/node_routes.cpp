#include "kubelet/node_routes.hpp"

#include <algorithm>
#include <array>

namespace liqo::kubelet {
namespace {

struct NodePath {
  std::string_view path;
  Endpoint endpoint;
  std::string_view subresource;
  std::string_view narrower;  // as kubelets name it since Kubernetes 1.33
};
// A path below another one is listed before it.
constexpr std::array<NodePath, 10> node_paths = {{
    {"/pods", Endpoint::pods, "proxy", "pods"},
    {"/runningpods", Endpoint::running_pods, "proxy", "pods"},
    {"/healthz", Endpoint::healthz, "proxy", "healthz"},
    {"/configz", Endpoint::configz, "proxy", "configz"},
    {"/stats/summary", Endpoint::stats_summary, "stats", ""},
    {"/metrics/cadvisor", Endpoint::metrics_cadvisor, "metrics", ""},
    {"/metrics/probes", Endpoint::metrics_probes, "metrics", ""},
    {"/metrics/resource", Endpoint::metrics_resource, "metrics", ""},
    {"/metrics/slis", Endpoint::metrics_slis, "metrics", ""},
    {"/metrics", Endpoint::metrics, "metrics", ""},
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
    route.subresource = known.subresource;
    route.narrower = known.narrower;
    route.verb = "get";
    return route;
  }
  return std::nullopt;
}

std::string_view node_path(Endpoint endpoint) {
  const auto known = std::ranges::find(node_paths, endpoint, &NodePath::endpoint);
  return known == node_paths.end() ? std::string_view() : known->path;
}

}  // namespace liqo::kubelet
