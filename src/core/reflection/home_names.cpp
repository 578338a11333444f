#include "core/reflection/home_names.hpp"

#include "kube/base/printable.hpp"

namespace liqo::core::reflection {
namespace {

constexpr std::string_view service_zone = ".svc", usual_domain = ".cluster.local";
/// The longest name of DNS.
constexpr std::size_t max_name = 253;

bool cut_end(std::string_view& name, std::string_view end) {
  if (!name.ends_with(end)) return false;
  name.remove_suffix(end.size());
  return true;
}

std::string_view name_of(const kube::Object& service) {
  if (kube::string_at(service.spec(), {"type"}) != "ExternalName") return {};
  return kube::string_at(service.spec(), {"externalName"});
}

/// Every cluster has the Service of its own API server, which is never copied.
bool is_api_server(std::string_view name) { return name.starts_with("kubernetes.default.svc"); }

/// The twin of another namespace; "" = it has none.
std::string twin_of(std::string_view ns, const core::ForgingContext& ctx) {
  if (!ctx.twins) return {};
  const auto found = ctx.twins->find(std::string(ns));
  return found == ctx.twins->end() ? std::string() : found->second;
}

}  // namespace

std::string_view namespace_in_name(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  cut_end(name, usual_domain);
  if (!cut_end(name, service_zone)) return {};
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? std::string_view() : name.substr(dot + 1);
}

std::string_view leads_to(const kube::Object& service) {
  const std::string_view name = name_of(service), ns = namespace_in_name(name);
  return ns == service.ns() || is_api_server(name) ? std::string_view() : ns;
}

std::string external_name_there(const kube::Object& service, std::string_view remote_namespace,
                                const core::ForgingContext& ctx) {
  const std::string_view name = kube::string_at(service.spec(), {"externalName"});
  const std::string_view ns = namespace_in_name(name_of(service));
  const std::string twin = ns == service.ns() ? std::string(remote_namespace) : twin_of(ns, ctx);
  if (ns.empty() || twin.empty() || is_api_server(name)) return std::string(name);
  const auto at = std::size_t(ns.data() - name.data());
  return std::string(name.substr(0, at)) + twin + std::string(name.substr(at + ns.size()));
}

std::string describe_lost_name(const kube::Object& service, const core::ForgingContext& ctx) {
  const std::string_view ns = leads_to(service);
  if (is_api_server(name_of(service)))
    return "externalName " + kube::in_quotes(name_of(service), max_name) + " leads to the API server of cluster " +
           ctx.clusters.remote + " there, not to that of this cluster";
  if (ns.empty() || !twin_of(ns, ctx).empty()) return {};
  return "externalName " + kube::in_quotes(name_of(service), max_name) + " does not lead here from cluster " +
         ctx.clusters.remote + ", because namespace " + std::string(ns) + " is not offloaded to it: offload it, too";
}

}  // namespace liqo::core::reflection
