// Names that are the same on both sides of the wire, and checks of names that come from elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/base/failure.hpp"

namespace liqo::core {

/// The namespaces of Kubernetes itself, which every cluster has.
inline constexpr std::string_view kubernetes_namespaces[] = {"kube-system", "kube-public", "kube-node-lease"};
/// Kubernetes keeps namespaces whose names begin so for itself.
inline constexpr std::string_view kubernetes_prefix = "kube-";

/// RFC 1123 label: 1-63 of a-z, 0-9 and '-', alphanumeric at both ends. The form of namespaces and cluster IDs.
bool is_dns_label(std::string_view text);
/// RFC 1123 subdomain of at most 253 characters: the form of most object names.
bool is_dns_subdomain(std::string_view text);
/// Whether the text may stand in a path as the name of an object: 1-253 of a-z, 0-9, '-' and '.', and no '.' at the
/// start. The API server decides whether there can be such an object.
bool is_path_name(std::string_view text);
/// The value of a label: empty, or at most 63 of A-Z a-z 0-9 '-' '_' '.', alphanumeric at both ends.
bool is_label_value(std::string_view text);
/// The key of a label or annotation: a name of 1-63 characters in the form of a value, with or without a DNS subdomain
/// and '/' before it.
bool is_label_key(std::string_view text);
/// The part of such a key before its slash, or the whole key if there is none: "a.b" of "a.b/c".
std::string_view domain_of(std::string_view key);
/// Whether a domain is `known` or below it, e.g. "cni.projectcalico.org" below "projectcalico.org".
bool is_below(std::string_view domain, std::string_view known);

/// The DNS names of a Service in namespace `ns`, from its own name to the one with the domain of the cluster, which is
/// taken to be `cluster.local`.
std::vector<std::string> service_names(std::string_view service, std::string_view ns);

/// A virtual node's name must fit into a label value, because every ShadowPod carries it.
/// Errors: Errc::invalid_input with one sentence that names the limit.
kube::Result<void> check_node_name(std::string_view name);

/// The provider's name of the root CA ConfigMap of a consumer: `kube-root-ca.crt.` and the first five characters of
/// the consumer's cluster ID, and an `a` if it would otherwise not end alphanumerically.
std::string remote_root_ca_name(std::string_view local_cluster);

/// The provider's Secret with the service-account tokens of a pod: `<pod>-token`. If that has more than 253 characters,
/// it is the beginning of the pod's name, a digest of it, and `-token`.
std::string token_secret_name(std::string_view pod);
/// The pod of a token Secret with that name; "" if it is no such name. `annotated` is the pod that the Secret's
/// annotation names, "" = none; it counts only if the token Secret of that pod has this name.
std::string_view token_secret_pod(std::string_view secret, std::string_view annotated);
/// The key of one token in a token Secret: `<volume>-` and the first six hex digits of the SHA-256 of the path.
std::string token_key(std::string_view volume, std::string_view path);

}  // namespace liqo::core
