// The kinds that a fake API server serves.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/resource.hpp"

namespace kube::testing {

/// One served kind, and how the server treats its objects.
struct FakeKind {
  std::string group, version, plural, kind;
  bool namespaced = true;
  bool status_subresource = false;  ///< status is written only through /status
  bool generation = false;          ///< metadata.generation counts changes of the spec
  bool custom = false;              ///< defined by a CRD: no strategic merge, unconditional PUT refused

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  bool operator==(const FakeKind& other) const {
    return group == other.group && version == other.version && plural == other.plural;
  }
};

/// Whether it is the built-in kind of that plural in the group "": kinds of other groups may have the same plural.
bool is_core(const FakeKind& kind, std::string_view plural);

/// A kind defined by a CRD with the status subresource.
FakeKind custom_kind(const Resource& resource);

/// Pods, Nodes, Namespaces, ConfigMaps, Secrets, Services, ServiceAccounts, Events, Leases, EndpointSlices, Ingresses,
/// PersistentVolumeClaims, CertificateSigningRequests, RoleBindings, ClusterRoleBindings, Deployments, ReplicaSets,
/// ResourceQuotas.
std::vector<FakeKind> built_in_kinds();

}  // namespace kube::testing
