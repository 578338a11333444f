#include "kube/testing/fake/kind.hpp"

namespace kube::testing {

bool is_core(const FakeKind& kind, std::string_view plural) { return kind.group.empty() && kind.plural == plural; }

FakeKind custom_kind(const Resource& resource) {
  return {.group = std::string(resource.group),
          .version = std::string(resource.version),
          .plural = std::string(resource.plural),
          .kind = std::string(resource.kind),
          .namespaced = resource.namespaced,
          .status_subresource = true,
          .generation = true,
          .custom = true};
}

std::vector<FakeKind> built_in_kinds() {
  constexpr bool yes = true, no = false;
  return {
      {"", "v1", "pods", "Pod", yes, yes, yes},
      {"", "v1", "nodes", "Node", no, yes, no},
      {"", "v1", "namespaces", "Namespace", no, yes, no},
      {"", "v1", "configmaps", "ConfigMap"},
      {"", "v1", "secrets", "Secret"},
      {"", "v1", "services", "Service", yes, yes, no},
      {"", "v1", "serviceaccounts", "ServiceAccount"},
      {"", "v1", "events", "Event"},
      {"", "v1", "resourcequotas", "ResourceQuota", yes, yes, no},
      {"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", yes, yes, no},
      {"coordination.k8s.io", "v1", "leases", "Lease"},
      {"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", yes, no, yes},
      {"networking.k8s.io", "v1", "ingresses", "Ingress", yes, yes, yes},
      {"certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", no, yes, no},
      {"rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding"},
      {"rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", no},
      {"apps", "v1", "deployments", "Deployment", yes, yes, yes},
      {"apps", "v1", "replicasets", "ReplicaSet", yes, yes, yes},
  };
}

}  // namespace kube::testing
