#include "core/policy/key_table.hpp"

#include <algorithm>
#include <span>

#include "core/common/names.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace {

using Texts = std::span<const std::string_view>;

/// Domains of meshes, network plugins, policy engines and cloud identities.
constexpr std::string_view reserved_domains[] = {"ambient.istio.io",
                                                 "antrea.io",
                                                 "azure.workload.identity",
                                                 "cilium.io",
                                                 "cni.cncf.io",
                                                 "eks.amazonaws.com",
                                                 "gatekeeper.sh",
                                                 "iam.amazonaws.com",
                                                 "io.cilium",
                                                 "karpenter.sh",
                                                 "kubeovn.io",
                                                 "kubevirt.io",
                                                 "kyverno.io",
                                                 "linkerd.io",
                                                 "multus-cni.io",
                                                 "node.kubernetes.io",
                                                 "node-role.kubernetes.io",
                                                 "ovn.kubernetes.io",
                                                 "ovn.org",
                                                 "pod-security.kubernetes.io",
                                                 "projectcalico.org",
                                                 "sidecar.istio.io",
                                                 "spidernet.io"};

/// Kueue gates a pod with a queue until that queue admits it, and no twin has the queues of a consumer.
constexpr std::string_view queue_domain = "kueue.x-k8s.io";

/// Values of labels by which a pod stays out of a mesh, an identity or a policy.
constexpr std::string_view off_values[] = {"false", "disabled", "none"};

/// The labels of Liqo that a consumer may set. The others mark this cluster's own pods.
constexpr std::string_view labels_of_consumers[] = {api::labels::reflection_origin,
                                                    api::labels::reflection_destination,
                                                    api::labels::node_name,
                                                    api::labels::creator_user,
                                                    api::labels::managed_by,
                                                    api::labels::remote_unavailable,
                                                    "liqo.io/managed"};

/// Domains whose annotations only describe a pod. Exceptions are refused in `check_pod_metadata`.
constexpr std::string_view common_domains[] = {"app.kubernetes.io",
                                               "batch.kubernetes.io",
                                               "container.apparmor.security.beta.kubernetes.io",
                                               "controller.kubernetes.io",
                                               "helm.sh",
                                               "kubectl.kubernetes.io",
                                               "kubernetes.io",
                                               "liqo.io",
                                               "meta.helm.sh",
                                               "offloading.liqo.io",
                                               "prometheus.io"};

bool any_below(std::string_view domain, Texts known) {
  return std::ranges::any_of(known, [domain](std::string_view each) { return is_below(domain, each); });
}

}  // namespace

bool is_reserved_label(std::string_view key) {
  const std::string_view domain = domain_of(key);
  if (is_below(domain, "liqo.io"))
    return std::ranges::find(labels_of_consumers, key) == std::ranges::end(labels_of_consumers);
  // Labels directly in istio.io make the mesh take the pod in. Others, as in service.istio.io, only describe it.
  if (domain == "istio.io") return true;
  // Cilium writes its domain backwards, as in "io.cilium.k8s.policy.serviceaccount".
  return any_below(domain, reserved_domains) || domain.starts_with("io.cilium.");
}

bool is_left_out_label(std::string_view key, std::string_view value) {
  const std::string_view domain = domain_of(key);
  if (is_below(domain, queue_domain)) return true;
  return is_reserved_label(key) && !is_below(domain, "liqo.io") &&
         std::ranges::find(off_values, kube::lower_case(value)) != std::ranges::end(off_values);
}

bool is_common_annotation(std::string_view key) {
  const std::string_view domain = domain_of(key);
  return !domain.contains('.') || std::ranges::find(common_domains, domain) != std::ranges::end(common_domains);
}

}  // namespace liqo::core
