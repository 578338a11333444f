#include "core/admission/exposure.hpp"

#include <algorithm>
#include <iterator>

#include "core/admission/check_orders.hpp"
#include "core/admission/pod_firewall.hpp"
#include "core/admission/tenant_rules.hpp"
#include "core/common/names.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"

namespace liqo::core::admission {
namespace {

constexpr std::string_view carried =
    "would have an Ingress carry traffic to where the name leads; the policy key externalNameBackends would allow it";
constexpr std::string_view address_of_others =
    "would take traffic that is not the consumer's; the policy key externalIPs would allow it";

bool applies(const Request& request, std::string_view consumer) {
  return request.writes_object() && is_of_consumer(request.user, consumer);
}

std::size_t findings_wanted(const Request& request) {
  return request.operation == Operation::update ? all_findings : max_findings;
}

/// Kubernetes takes no longer hosts, so two different hosts never make the same finding, by which `keep_new` compares
/// them.
constexpr std::size_t max_name = 253;

/// Zones that are not public: their names lead into the network of this cluster.
constexpr std::string_view private_zones[] = {"internal",    "intranet", "lan",  "local",
                                              "localdomain", "private",  "corp", "home.arpa"};

std::string_view last_label(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

/// Resolvers take numbers in all old forms ("127.1", "0x7f000001") for addresses, and no public zone ends in a number.
bool looks_like_address(std::string_view name) {
  if (name.contains(':')) return true;
  const std::string_view last = last_label(name);
  return last.starts_with("0x") || (!last.empty() && last.find_first_not_of("0123456789") == std::string_view::npos);
}

/// DNS ignores case, and a dot at the end.
std::string canonical(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  return kube::lower_case(name);
}

/// The namespace in a name of the form that a cluster's DNS serves, whatever its domain: service.NS.svc and names
/// below, and pod.NS.pod. "" for other forms.
std::string_view namespace_in(std::string_view name) {
  for (std::string_view kind : {".svc", ".pod"}) {
    for (std::size_t at = name.find(kind); at != std::string_view::npos; at = name.find(kind, at + 1)) {
      const std::size_t end = at + kind.size();
      if (end < name.size() && name[end] != '.') continue;
      const std::string_view before = name.substr(0, at);
      const std::size_t dot = before.rfind('.');
      if (dot != std::string_view::npos) return before.substr(dot + 1);
      // "ns.svc" names no Service, but is judged by its namespace. "api.svc.example.com" is a host outside.
      if (end == name.size()) return before;
    }
  }
  return "";
}

/// Why an ExternalName may not lead there, "" if it may.
std::string_view refuse_name(std::string_view name, const PodPolicy& policy, const OwnerOf& owner_of) {
  if (name.empty()) return "";
  if (is_below(name, "localhost") || looks_like_address(name))
    return policy.external_ips ? "" : "is an address; the policy key externalIPs would allow it";
  if (policy.other_namespaces) return "";
  if (!name.contains('.'))
    return "is no full name, and leads to what is in this cluster; the policy key otherNamespaces would allow it";
  if (const std::string_view ns = namespace_in(name); !ns.empty()) {
    if (owner_of(ns) == NamespaceOwner::consumer) return "";
    return "leads to what others have in this cluster; the policy key otherNamespaces would allow it";
  }
  // Resolvers complete "service.namespace", the short form.
  const std::string_view last = last_label(name);
  const NamespaceOwner owner = owner_of(last);
  if (owner == NamespaceOwner::consumer) return "";
  const bool is_public =
      last.starts_with("xn--") || last.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
  if (owner == NamespaceOwner::others || !is_public)
    return "leads to what others have in this cluster; the policy key otherNamespaces would allow it";
  if (std::ranges::any_of(private_zones, [name](std::string_view zone) { return is_below(name, zone); }))
    return "leads into the network of this cluster; the policy key otherNamespaces would allow it";
  return "";
}

/// What is wrong with a class that an object names: it is neither offered nor, if the policy lists classes, there.
std::string_view refuse_class(std::string_view name, const std::optional<std::vector<std::string>>& listed,
                              std::span<const std::string> offered, std::string_view advice) {
  const bool may = name.empty() || (listed ? lists(*listed, name) : std::ranges::find(offered, name) != offered.end());
  return may ? std::string_view() : advice;
}

/// The older way to name the class of an Ingress, which its controllers prefer to the field.
constexpr std::string_view class_annotation = "kubernetes.io/ingress.class";

std::vector<Finding> look_at_service(const kube::Object& service, const PodPolicy& policy,
                                     const ServiceSurroundings& around, std::size_t max_found) {
  std::vector<Finding> found;
  const json::object& spec = service.spec();
  const auto report = [&found, max_found](std::string path, std::string_view reason) {
    if (found.size() < max_found) found.push_back({std::move(path), std::string(reason)});
  };
  if (!policy.external_ips) {
    // The API server has checked that these are strings.
    for (const json::value& address : kube::array_at(spec, {"externalIPs"}))
      report("spec.externalIPs " + kube::in_quotes(address.is_string() ? std::string_view(address.get_string()) : ""),
             address_of_others);
    if (const std::string_view address = kube::string_at(spec, {"loadBalancerIP"}); !address.empty())
      report("spec.loadBalancerIP " + kube::in_quotes(address), address_of_others);
  }
  const std::string_view type = kube::string_at(spec, {"type"});
  if (!type.empty() && lists(policy.refused_service_types, type) && type != "ClusterIP")
    report("spec.type " + kube::in_quotes(type), "is among refusedServiceTypes of the policy");
  if (type == "LoadBalancer") {
    const std::string_view name = kube::string_at(spec, {"loadBalancerClass"});
    if (const std::string_view why =
            refuse_class(name, policy.load_balancer_classes, around.offered,
                         "is not among the classes of load balancers that the tenant is offered; "
                         "loadBalancerClasses in the policy names others");
        !why.empty())
      report("spec.loadBalancerClass " + kube::in_quotes(name), why);
  }
  if (is_external_name(service)) {
    const std::string_view name = kube::string_at(spec, {"externalName"});
    if (const std::string_view why = refuse_name(canonical(name), policy, around.owner_of); !why.empty())
      report("spec.externalName " + kube::in_quotes(name, max_name), why);
    if (!policy.external_name_backends && around.is_backend) report("spec.type \"ExternalName\"", carried);
  }
  return found;
}

/// Calls `take` with the name of each Service that an Ingress sends traffic to; with some more than once.
template <class Take>
void for_each_backend(const kube::Object& ingress, Take take) {
  const auto add = [&take](std::string_view name) {
    if (!name.empty()) take(name);
  };
  add(kube::string_at(ingress.spec(), {"defaultBackend", "service", "name"}));
  for (const json::value& rule : kube::array_at(ingress.spec(), {"rules"}))
    for (const json::value& path : kube::array_at(rule, {"http", "paths"}))
      add(kube::string_at(path, {"backend", "service", "name"}));
}

/// Whether the list names the host or has a "*.domain" above it; "*" names every host, also "".
bool is_listed_host(std::string_view host, const std::vector<std::string>& list) {
  return std::ranges::any_of(list, [host](const std::string& entry) {
    if (entry == "*" || (!entry.empty() && entry == host)) return true;
    const std::string_view domain = entry;
    return domain.starts_with("*.") && host.size() > domain.size() - 1 && host.ends_with(domain.substr(1));
  });
}

std::vector<Finding> look_at_ingress(const kube::Object& ingress, const PodPolicy& policy,
                                     const IngressSurroundings& around, std::size_t max_found) {
  std::vector<Finding> found;
  const std::span<const std::string> external_names = around.external_names;
  const auto check_class = [&](std::string path, std::string_view name) {
    const std::string_view why = refuse_class(name, policy.ingress_classes, around.offered,
                                              "is not among the classes of Ingresses that the tenant is offered; "
                                              "ingressClasses in the policy names others");
    if (!why.empty() && found.size() < max_found)
      found.push_back({std::move(path) + " " + kube::in_quotes(name), std::string(why)});
  };
  check_class("spec.ingressClassName", kube::string_at(ingress.spec(), {"ingressClassName"}));
  check_class("annotation " + std::string(class_annotation), ingress.annotation(class_annotation));
  if (!policy.external_name_backends)
    for (const std::string& name : backends_of(ingress))
      if (found.size() < max_found && std::ranges::find(external_names, name) != external_names.end())
        found.push_back({"backend " + kube::in_quotes(name, max_name), std::string(carried)});
  if (!policy.ingress_hosts) return found;
  constexpr std::string_view why = "is not among ingressHosts of the policy";
  const json::object& spec = ingress.spec();
  const auto check = [&](std::string path, std::string_view host) {
    if (found.size() < max_found && !is_listed_host(canonical(host), *policy.ingress_hosts))
      found.push_back({std::move(path) + " " + kube::in_quotes(host, max_name), std::string(why)});
  };
  // The default backend answers for every host that no rule names.
  if (!kube::object_at(spec, {"defaultBackend"}).empty()) check("spec.defaultBackend of host", "");
  for (const json::value& rule : kube::array_at(spec, {"rules"}))
    check("spec.rules of host", kube::string_at(rule, {"host"}));
  for (const json::value& tls : kube::array_at(spec, {"tls"}))
    for (const json::value& host : kube::array_at(tls, {"hosts"}))
      check("spec.tls of host", host.is_string() ? std::string_view(host.get_string()) : "");
  return found;
}

Answer answer(const Request& request, TwinKind kind, const PodPolicy& policy, std::vector<Finding> found,
              std::vector<Finding> known) {
  keep_new(found, std::move(known));
  std::ranges::move(find_orders(request, kind, policy, max_findings), std::back_inserter(found));
  if (found.empty()) return Answer::allow();
  return Answer::deny(known_as(request, kind == TwinKind::service ? "Service" : "Ingress") +
                      " may not be in this cluster: " + describe(found));
}

}  // namespace

std::vector<std::string> backends_of(const kube::Object& ingress) {
  std::vector<std::string> names;
  for_each_backend(ingress, [&names](std::string_view name) { names.emplace_back(name); });
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

bool sends_to(const kube::Object& ingress, std::string_view service) {
  bool found = false;
  for_each_backend(ingress, [&](std::string_view name) { found = found || name == service; });
  return found;
}

bool is_external_name(const kube::Object& service) {
  return kube::string_at(service.spec(), {"type"}) == "ExternalName";
}

Answer check_service(const Request& request, std::string_view consumer, const PodPolicy& policy,
                     const ServiceSurroundings& around) {
  if (!applies(request, consumer)) return Answer::allow();
  const std::size_t max_found = findings_wanted(request);
  return answer(request, TwinKind::service, policy, look_at_service(request.object, policy, around, max_found),
                look_at_service(request.old_object, policy, around, max_found));
}

Answer check_ingress(const Request& request, std::string_view consumer, const PodPolicy& policy,
                     const IngressSurroundings& around) {
  if (!applies(request, consumer)) return Answer::allow();
  const std::size_t max_found = findings_wanted(request);
  return answer(request, TwinKind::ingress, policy, look_at_ingress(request.object, policy, around, max_found),
                look_at_ingress(request.old_object, policy, around, max_found));
}

}  // namespace liqo::core::admission
