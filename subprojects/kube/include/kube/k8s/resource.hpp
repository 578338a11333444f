// Naming kinds and objects: group/version/plural, and namespace/name.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kube {

/// A kind as the API addresses it. Kinds that a program uses are constants of static strings.
struct Resource {
  std::string_view group;    ///< "" for the core group
  std::string_view version;  ///< e.g. "v1"
  std::string_view plural;   ///< e.g. "pods"
  std::string_view kind;     ///< e.g. "Pod"
  bool namespaced = true;

  /// The value of `apiVersion`: "v1", or "group/version".
  std::string api_version() const;
  /// The path up to the collection of a namespace ("" = all namespaces, or a cluster-wide kind).
  std::string path(std::string_view ns) const;
  /// The path of one object.
  std::string path(std::string_view ns, std::string_view name) const;
  bool operator==(const Resource&) const = default;
};

/// The key of an object within its kind. Not an identity: that is the UID.
struct ObjectKey {
  std::string ns;  ///< "" for cluster-wide kinds
  std::string name;

  std::strong_ordering operator<=>(const ObjectKey&) const = default;
  bool operator==(const ObjectKey&) const = default;
  /// "namespace/name", or "name" for cluster-wide kinds.
  std::string text() const { return ns.empty() ? name : ns + "/" + name; }
  /// The key of a namespaced object from "namespace/name". Nothing if a part is empty, or if the text has no slash or
  /// more than one. The form of the parts is not checked.
  static std::optional<ObjectKey> parse(std::string_view text);
};

/// Built-in kinds that a runtime needs itself or that most controllers use.
namespace resources {
inline constexpr Resource pods{"", "v1", "pods", "Pod"};
inline constexpr Resource nodes{"", "v1", "nodes", "Node", false};
inline constexpr Resource namespaces{"", "v1", "namespaces", "Namespace", false};
inline constexpr Resource secrets{"", "v1", "secrets", "Secret"};
inline constexpr Resource config_maps{"", "v1", "configmaps", "ConfigMap"};
inline constexpr Resource services{"", "v1", "services", "Service"};
inline constexpr Resource service_accounts{"", "v1", "serviceaccounts", "ServiceAccount"};
inline constexpr Resource events{"", "v1", "events", "Event"};
inline constexpr Resource leases{"coordination.k8s.io", "v1", "leases", "Lease"};
inline constexpr Resource certificate_signing_requests{"certificates.k8s.io", "v1", "certificatesigningrequests",
                                                       "CertificateSigningRequest", false};
inline constexpr Resource token_reviews{"authentication.k8s.io", "v1", "tokenreviews", "TokenReview", false};
inline constexpr Resource subject_access_reviews{"authorization.k8s.io", "v1", "subjectaccessreviews",
                                                 "SubjectAccessReview", false};
}  // namespace resources

}  // namespace kube

template <>
struct std::hash<kube::ObjectKey> {
  std::size_t operator()(const kube::ObjectKey& key) const noexcept {
    return std::hash<std::string>()(key.ns) * 31 + std::hash<std::string>()(key.name);
  }
};
