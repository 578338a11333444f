#include "core/namespaces/twin_names.hpp"

#include <algorithm>

#include "core/common/peer_names.hpp"

namespace liqo::core {
namespace {

/// Names from installation guides of common software that end in what can be a cluster ID.
constexpr std::string_view well_known[] = {
    "argo-events",
    "argo-rollouts",
    "argo-workflows",
    "calico-apiserver",
    "calico-system",
    "capi-system",
    "cattle-monitoring-system",
    "cattle-system",
    "cert-manager",
    "chaos-mesh",
    "cilium-secrets",
    "cnpg-system",
    "crossplane-system",
    "external-dns",
    "external-secrets",
    "flux-system",
    "gatekeeper-system",
    "gpu-operator",
    "ingress-nginx",
    "istio-ingress",
    "istio-operator",
    "istio-system",
    "keda-system",
    "knative-eventing",
    "knative-operator",
    "knative-serving",
    "kube-flannel",
    "kube-monitoring",
    "kube-node-lease",
    "kube-public",
    "kube-system",
    "kubernetes-dashboard",
    "kubevirt-manager",
    "linkerd-viz",
    "local-path-storage",
    "longhorn-system",
    "metallb-system",
    "minio-operator",
    "nginx-ingress",
    "node-feature-discovery",
    "nvidia-gpu-operator",
    "olm-operators",
    "openshift-config",
    "openshift-monitoring",
    "openshift-operators",
    "postgres-operator",
    "rook-ceph",
    "sealed-secrets",
    "tekton-pipelines",
    "tigera-operator",
    "traefik-system",
    "trident-system",
    "vault-secrets-operator",
};

bool is_well_known(std::string_view name) { return std::ranges::find(well_known, name) != std::end(well_known); }

/// Whether the name has the form `<something>-<id>`.
bool ends_in(std::string_view name, std::string_view id) {
  return !id.empty() && name.size() > id.size() + 1 && name.ends_with(id) && name[name.size() - id.size() - 1] == '-';
}

}  // namespace

bool matches_name_pattern(std::string_view pattern, std::string_view name) {
  // On a mismatch the last `*` takes one more character: earlier ones need not be tried again.
  std::size_t p = 0, n = 0, star = std::string_view::npos, tried = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      tried = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++tried;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::string refuse_new_twin_name(std::string_view name, const TwinNameRules& rules) {
  const std::string shown(name.substr(0, 63));
  if (!rules.mistake.empty()) return "the provider makes no new namespaces: " + rules.mistake;
  const std::string policy = "the provider's policy (twinNames) ";
  const std::string way_out = ": use DefaultName, or ask its administrator to allow it";
  if (rules.allowed) {
    if (std::ranges::find(*rules.allowed, name) != rules.allowed->end()) return {};
    const bool fits =
        std::ranges::any_of(*rules.allowed, [&](const auto& pattern) { return matches_name_pattern(pattern, name); });
    if (!fits) return policy + "does not give cluster " + rules.consumer + " the name " + shown + way_out;
  } else if (!ends_in(name, rules.consumer)) {
    return policy + "gives cluster " + rules.consumer + " names that end in -" + rules.consumer + ", not " + shown +
           way_out;
  }
  // An administrator who writes a wildcard does not think of names that end in another consumer's ID.
  std::string_view keeper = ends_in(name, rules.consumer) ? std::string_view(rules.consumer) : std::string_view();
  for (const std::string& other : rules.consumers)
    if (other.size() > keeper.size() && ends_in(name, other)) keeper = other;
  if (!keeper.empty() && keeper != rules.consumer)
    return policy + "keeps the name " + shown + " for cluster " + std::string(keeper) + way_out;
  if (is_well_known(name)) return policy + "keeps the name " + shown + " for the software that has it" + way_out;
  return {};
}

std::string namespace_of_id(std::string_view id, std::span<const NamedNamespace> namespaces) {
  for (const NamedNamespace& one : namespaces)
    if (!one.is_of_peer && !one.name.starts_with(tenant_namespace_prefix) && ends_in(one.name, id))
      return std::string(one.name);
  const auto known = std::ranges::find_if(well_known, [id](std::string_view name) { return ends_in(name, id); });
  return known == std::end(well_known) ? "" : std::string(*known);
}

}  // namespace liqo::core
