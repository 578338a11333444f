// Labels that a ShadowPod goes without because an earlier version of its provider refuses them.
#include "core/offloading/refused_labels.hpp"

#include "../objects.hpp"
#include "core/offloading/shadow_pod.hpp"
#include "core/offloading/shadow_pod_update.hpp"

namespace liqo::core {
namespace {

using namespace testing;

/// The words of a provider of 0.1.0.
std::string words_about(std::string_view key) {
  return "ShadowPod web may not run in this cluster: label " + std::string(key) +
         " is an order to what runs in this cluster, such as a mesh or a network plugin; labels in the policy allows "
         "it";
}

}  // namespace

TEST_CASE("of the labels that a refusal names those are left out that ask for nothing, and stay out") {
  const kube::Object local = local_pod(
      "{}", "{}", R"({"labels": {"app": "web", "sidecar.istio.io/inject": "false", "linkerd.io/inject": "enabled"}})");
  auto forged = forge_shadow_pod(local, "shop-r", context());
  REQUIRE(forged);
  kube::Object& shadow = forged->shadow;
  using Texts = std::vector<std::string>;
  CHECK(refused_labels(shadow, words_about("sidecar.istio.io/inject")) == Texts{"sidecar.istio.io/inject"});
  CHECK(refused_labels(shadow, words_about("linkerd.io/inject")).empty());
  CHECK(refused_labels(shadow, "quota is full").empty());
  CHECK(refused_labels(shadow, std::string(100'000, ' ') + words_about("sidecar.istio.io/inject")).empty());

  leave_out_labels(shadow, Texts{"sidecar.istio.io/inject"});
  CHECK_FALSE(shadow.has_label("sidecar.istio.io/inject"));
  CHECK(shadow.label("app") == "web");
  CHECK_FALSE(shadow.annotation("offloading.liqo.io/reflected-keys").contains("sidecar"));
  shadow.mutable_metadata()["uid"] = "s1";
  CHECK_FALSE(plan_shadow_pod_update(local, shadow, context()).has_value());
  CHECK(describe_refused_labels(Texts{"sidecar.istio.io/inject"}, "milan")
            .contains("cluster milan refuses label sidecar"));
}

}  // namespace liqo::core
