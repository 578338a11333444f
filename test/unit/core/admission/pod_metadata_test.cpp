#include "core/admission/pod_metadata.hpp"

#include <doctest/doctest.h>

#include "reviews.hpp"

using namespace liqo::core::admission;
using liqo::core::PodPolicy;

namespace {

std::string refusal_of_annotation(std::string_view key, std::string_view value, const PodPolicy& policy = {}) {
  kube::Object shadow;
  shadow.set_annotation(key, value);
  return describe(check_pod_metadata(shadow, policy));
}

std::string refusal_of_label(std::string_view key, const PodPolicy& policy = {}) {
  kube::Object shadow;
  shadow.set_label(key, "x");
  return describe(check_pod_metadata(shadow, policy));
}

}  // namespace

TEST_CASE("annotations that make a pod another one are refused") {
  CHECK(refusal_of_annotation("kubernetes.io/config.mirror", "x").contains("kubernetes.io/config.mirror"));
  CHECK(refusal_of_annotation("container.apparmor.security.beta.kubernetes.io/main", "unconfined") != "");
  CHECK(refusal_of_annotation("container.apparmor.security.beta.kubernetes.io/main", "runtime/default") == "");
  CHECK(refusal_of_annotation("container.apparmor.security.beta.kubernetes.io/main", "unconfined",
                              {.unconfined = true}) == "");
}

TEST_CASE("a label of a reserved domain is refused if it asks for something, and liqo's own whatever it says") {
  const auto refusal = [](std::string_view key, std::string_view value) {
    kube::Object shadow;
    shadow.set_label(key, value);
    return describe(check_pod_metadata(shadow, {}));
  };
  CHECK(refusal("sidecar.istio.io/inject", "false") == "");
  CHECK(refusal("kueue.x-k8s.io/queue-name", "team-a") == "");
  CHECK(refusal("sidecar.istio.io/inject", "true") != "");
  CHECK(refusal("sidecar.istio.io/inject", "") != "");
  CHECK(refusal("azure.workload.identity/use", "true") != "");
  CHECK(refusal("liqo.io/shadowPod", "false") != "");
}

TEST_CASE("labels reach the pod as they are, or the pod is refused") {
  for (std::string_view key :
       {"app", "app.kubernetes.io/name", "statefulset.kubernetes.io/pod-name", "team.example.com/x",
        "topology.kubernetes.io/zone", "security.istio.io/tlsMode", "batch.kubernetes.io/job-name",
        "offloading.liqo.io/origin", "offloading.liqo.io/nodename", "liqo.io/creator-user",
        "liqo.io/remote-unavailable", "notistio.io/x"}) {
    CAPTURE(key);
    CHECK(refusal_of_label(key) == "");
  }
  for (std::string_view key :
       {"istio.io/rev", "sidecar.istio.io/inject", "linkerd.io/control-plane-ns", "io.cilium.k8s.policy.serviceaccount",
        "projectcalico.org/serviceaccount", "kubevirt.io", "azure.workload.identity/use",
        "eks.amazonaws.com/fargate-profile", "liqo.io/shadowPod", "liqo.io/type", "offloading.liqo.io/invented"}) {
    CAPTURE(key);
    CHECK(refusal_of_label(key).contains("label " + std::string(key)));
    CHECK(refusal_of_label(key).contains("the policy key labels would allow it"));
    CHECK(refusal_of_label(key, {.labels = {std::string(key)}}) == "");
  }
}
