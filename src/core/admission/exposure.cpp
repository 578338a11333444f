#include "liqo/core/admission/exposure.hpp"

#include <algorithm>

#include "liqo/core/admission/pod_firewall.hpp"
#include "liqo/core/admission/tenant_rules.hpp"
#include "liqo/core/quoted.hpp"

namespace liqo::core::admission {
namespace {

constexpr std::string_view address_of_others =
    "would take traffic that is not the consumer's; externalIPs in the policy allows it";

bool applies(const Request& request, std::string_view consumer) {
  return request.writes_object() && is_of_consumer(request.user, consumer);
}

/// Four groups of digits, or anything with a colon: no name of DNS looks so.
bool looks_like_address(std::string_view name) {
  return name.contains(':') || (name.find_first_not_of("0123456789.") == std::string_view::npos);
}

/// Names are compared as DNS does: without regard to case and to a dot at the end.
std::string canonical(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  std::string made(name);
  for (char& c : made)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return made;
}

/// Why an ExternalName leads to where it should not, "" if it does not.
std::string_view refuse_name(std::string_view name, const PodPolicy& policy, const IsOwnNamespace& is_own) {
  if (name.empty()) return "";
  if (name == "localhost" || name.ends_with(".localhost") || looks_like_address(name))
    return policy.external_ips ? "" : "is an address; externalIPs in the policy allows it";
  std::string_view rest = name;
  if (rest.ends_with(".cluster.local")) rest.remove_suffix(std::string_view(".cluster.local").size());
  const bool is_inside = rest.size() < name.size() || rest.ends_with(".svc");
  if (!is_inside || policy.other_namespaces) return "";
  // service.namespace.svc, and pod.service.namespace.svc; the namespace is what is before the last part.
  const std::size_t kind = rest.rfind('.');
  if (kind != std::string_view::npos) {
    const std::string_view before = rest.substr(0, kind);
    const std::size_t dot = before.rfind('.');
    if (is_own(before.substr(dot == std::string_view::npos ? 0 : dot + 1))) return "";
  }
  return "leads to what others have in this cluster; otherNamespaces in the policy allows it";
}

std::vector<Finding> look_at_service(const kube::Object& service, const PodPolicy& policy,
                                     const IsOwnNamespace& is_own) {
  std::vector<Finding> found;
  const json::object& spec = service.spec();
  const auto report = [&found](std::string path, std::string_view reason) {
    if (found.size() < max_findings) found.push_back({std::move(path), std::string(reason)});
  };
  if (!policy.external_ips) {
    // The API server has checked that they are texts.
    for (const json::value& address : kube::array_at(spec, {"externalIPs"}))
      report("spec.externalIPs " + in_quotes(address.is_string() ? std::string_view(address.get_string()) : ""),
             address_of_others);
    if (const std::string_view address = kube::string_at(spec, {"loadBalancerIP"}); !address.empty())
      report("spec.loadBalancerIP " + in_quotes(address), address_of_others);
  }
  const std::string_view type = kube::string_at(spec, {"type"});
  if (!type.empty() && lists(policy.refused_service_types, type) && type != "ClusterIP")
    report("spec.type " + in_quotes(type), "is among refusedServiceTypes of the policy");
  if (type == "ExternalName") {
    const std::string_view name = kube::string_at(spec, {"externalName"});
    if (const std::string_view why = refuse_name(canonical(name), policy, is_own); !why.empty())
      report("spec.externalName " + in_quotes(name), why);
  }
  return found;
}

std::vector<Finding> look_at_ingress(const kube::Object& ingress, const PodPolicy& policy) {
  std::vector<Finding> found;
  if (!policy.ingress_hosts) return found;
  constexpr std::string_view why = "is not among ingressHosts of the policy";
  const json::object& spec = ingress.spec();
  const auto check = [&](std::string path, std::string_view host) {
    if (found.size() < max_findings && !is_listed_host(canonical(host), *policy.ingress_hosts))
      found.push_back({std::move(path) + " " + in_quotes(host), std::string(why)});
  };
  // It answers for every host that no rule names.
  if (!kube::object_at(spec, {"defaultBackend"}).empty()) check("spec.defaultBackend of host", "");
  for (const json::value& rule : kube::array_at(spec, {"rules"}))
    check("spec.rules of host", kube::string_at(rule, {"host"}));
  for (const json::value& tls : kube::array_at(spec, {"tls"}))
    for (const json::value& host : kube::array_at(tls, {"hosts"}))
      check("spec.tls of host", host.is_string() ? std::string_view(host.get_string()) : "");
  return found;
}

Answer answer(const Request& request, std::string_view kind, std::vector<Finding> found,
              const std::vector<Finding>& known) {
  std::erase_if(found, [&known](const Finding& finding) { return std::ranges::find(known, finding) != known.end(); });
  if (found.empty()) return Answer::allow();
  return Answer::deny(std::string(kind) + " " + request.name + " may not be in this cluster: " + describe(found));
}

}  // namespace

bool is_listed_host(std::string_view host, const std::vector<std::string>& list) {
  return std::ranges::any_of(list, [host](const std::string& entry) {
    if (entry == "*" || (!entry.empty() && entry == host)) return true;
    const std::string_view domain = entry;
    return domain.starts_with("*.") && host.size() > domain.size() - 1 && host.ends_with(domain.substr(1));
  });
}

Answer check_service(const Request& request, std::string_view consumer, const PodPolicy& policy,
                     const IsOwnNamespace& is_own) {
  if (!applies(request, consumer)) return Answer::allow();
  return answer(request, "Service", look_at_service(request.object, policy, is_own),
                look_at_service(request.old_object, policy, is_own));
}

Answer check_ingress(const Request& request, std::string_view consumer, const PodPolicy& policy) {
  if (!applies(request, consumer)) return Answer::allow();
  return answer(request, "Ingress", look_at_ingress(request.object, policy),
                look_at_ingress(request.old_object, policy));
}

}  // namespace liqo::core::admission
