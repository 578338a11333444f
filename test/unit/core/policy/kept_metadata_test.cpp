#include "core/policy/kept_metadata.hpp"

#include <doctest/doctest.h>

#include "core/admission/pod_metadata.hpp"
#include "core/common/names.hpp"

using namespace liqo::core::admission;
using liqo::core::kept_annotations;
using liqo::core::kept_labels;
using liqo::core::kept_tolerations;
using liqo::core::PodPolicy;
namespace json = kube::json;
using Texts = std::vector<std::string>;

TEST_CASE("annotations go onto the pod that are common, undotted or listed, and the rest is named") {
  constexpr std::string_view passing[] = {"note",
                                          "checksum/config",
                                          "prometheus.io/scrape",
                                          "kubectl.kubernetes.io/restartedAt",
                                          "kubectl.kubernetes.io/default-container",
                                          "batch.kubernetes.io/job-completion-index",
                                          "helm.sh/hook",
                                          "liqo.io/anti-affinity-preset",
                                          "offloading.liqo.io/local-pod-uid"};
  constexpr std::string_view staying[] = {"v1.multus-cni.io/default-network",
                                          "k8s.v1.cni.cncf.io/networks",
                                          "cni.projectcalico.org/ipAddrs",
                                          "ovn.kubernetes.io/ip_address",
                                          "k8s.ovn.org/pod-networks",
                                          "ipam.spidernet.io/ippool",
                                          "devices.nri.io/container.main",
                                          "mounts.nri.io/container.main",
                                          "io.kubernetes.cri-o.Devices",
                                          "io.katacontainers.config.hypervisor.kernel",
                                          "seccomp-policy.crio.io",
                                          "dev.gvisor.spec.mount.x.source",
                                          "sidecar.istio.io/inject",
                                          "traffic.sidecar.istio.io/excludeOutboundPorts",
                                          "linkerd.io/inject",
                                          "config.linkerd.io/skip-outbound-ports",
                                          "cluster-autoscaler.kubernetes.io/safe-to-evict",
                                          "karpenter.sh/do-not-disrupt",
                                          "vault.hashicorp.com/agent-inject",
                                          "iam.amazonaws.com/role",
                                          "kubernetes.io.evil.example/x",
                                          "what.nobody.knows/yet"};
  const auto left_out_of = [](std::string_view key, const PodPolicy& policy) {
    kube::Object shadow;
    shadow.set_annotation(key, "x");
    // It is no reason to refuse a pod.
    CHECK(check_pod_metadata(shadow, policy).empty());
    const auto [kept, left_out] = kept_annotations(shadow, policy);
    CHECK(kept.contains(key) == left_out.empty());
    return left_out;
  };
  for (std::string_view key : passing) {
    CAPTURE(key);
    CHECK(left_out_of(key, {}).empty());
  }
  for (std::string_view key : staying) {
    CAPTURE(key);
    CHECK(left_out_of(key, {}) == Texts{"annotation " + std::string(key)});
    CHECK(left_out_of(key, {.annotations = {std::string(key)}}).empty());
    CHECK(left_out_of(key, {.annotations = {std::string(liqo::core::domain_of(key)) + "/*"}}).empty() ==
          key.contains('/'));
    CHECK(left_out_of(key, {.annotations = {"*"}}).empty());
  }
}

TEST_CASE("tolerations go onto the pod that every pod has, or that are listed") {
  const auto split = [](std::string_view tolerations, const PodPolicy& policy) {
    const auto spec = json::parse(R"({"tolerations":)" + std::string(tolerations) + "}");
    return kept_tolerations(spec.as_object(), policy);
  };
  constexpr std::string_view all = R"([{"key":"node.kubernetes.io/not-ready","operator":"Exists"},
      {"key":"node.kubernetes.io/unreachable","operator":"Exists"},{"key":"CriticalAddonsOnly","operator":"Exists"},
      {"key":"node.kubernetes.io/unschedulable","operator":"Exists"},{"operator":"Exists","effect":"NoSchedule"},
      {"key":"node-role.kubernetes.io/control-plane","operator":"Exists"},{"key":"pool","value":"paris"}, 7])";
  CHECK(split(all, {}).kept.size() == 2);
  CHECK(split(all, {}).left_out == Texts{"toleration of CriticalAddonsOnly",
                                         "toleration of node.kubernetes.io/unschedulable", "toleration of every taint",
                                         "toleration of node-role.kubernetes.io/control-plane", "toleration of pool",
                                         "toleration of every taint"});
  CHECK(split(all, {.tolerations = {"pool"}}).kept.size() == 3);
  CHECK(split(all, {.tolerations = {"node-role.kubernetes.io/*"}}).kept.size() == 3);
  CHECK(split(all, {.tolerations = {"*"}}).kept.size() == 8);
}

TEST_CASE("labels by which a pod stays out of something are left out of it, and those of a queue, unless listed") {
  const auto left_out_of = [](std::string_view key, std::string_view value, const PodPolicy& policy = {}) {
    kube::Object shadow;
    shadow.set_label(key, value);
    CHECK(check_pod_metadata(shadow, policy).empty());
    const auto [kept, left_out] = kept_labels(shadow, policy);
    CHECK(kept.contains(key) == left_out.empty());
    return left_out;
  };
  for (const auto& [key, value] :
       std::vector<std::pair<std::string_view, std::string_view>>{{"sidecar.istio.io/inject", "false"},
                                                                  {"sidecar.istio.io/inject", "False"},
                                                                  {"istio.io/dataplane-mode", "none"},
                                                                  {"ambient.istio.io/redirection", "disabled"},
                                                                  {"linkerd.io/inject", "disabled"},
                                                                  {"azure.workload.identity/use", "false"},
                                                                  {"kueue.x-k8s.io/queue-name", "team-a"},
                                                                  {"kueue.x-k8s.io/managed", "true"},
                                                                  {"provreq.kueue.x-k8s.io/x", "1"}}) {
    CAPTURE(key);
    CHECK(left_out_of(key, value) == Texts{"label " + std::string(key)});
    CHECK(left_out_of(key, value, {.labels = {std::string(key)}}).empty());
    CHECK(left_out_of(key, value, {.labels = {"*"}}).empty());
  }
  // Nobody obeys these here, or everybody selects by them.
  for (const auto& [key, value] :
       std::vector<std::pair<std::string_view, std::string_view>>{{"app", "none"},
                                                                  {"team.example.com/inject", "false"},
                                                                  {"kuma.io/sidecar-injection", "disabled"},
                                                                  {"x-k8s.io/queue", "a"},
                                                                  {"liqo.io/managed", "false"}}) {
    CAPTURE(key);
    CHECK(left_out_of(key, value).empty());
  }
}
