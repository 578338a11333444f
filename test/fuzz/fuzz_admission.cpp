// Bytes from a network as an AdmissionReview, through every rule that needs nothing but the request, as tenant and as
// administrator. Whatever comes, there is an answer that an API server can read, and a patch that fits the object.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/admission/check_orders.hpp"
#include "core/admission/claims.hpp"
#include "core/admission/exposure.hpp"
#include "core/admission/shadow_pod.hpp"
#include "core/admission/tenant_rules.hpp"
#include "core/admission/validations.hpp"
#include "core/offloading/provider_pod.hpp"
#include "core/offloading/shadow_plan.hpp"

namespace {

using namespace liqo::core::admission;
using liqo::core::PodPolicy;
using liqo::core::read_pod_policy;
using liqo::core::TwinKind;

/// The answer as an API server reads it: with the UID asked for, and a reason for each refusal.
void check(const Request& request, const Answer& answer) {
  const auto review = kube::parse_json(encode_review(request.uid, answer));
  if (!review || kube::string_at(*review, {"response", "uid"}) != request.uid) std::abort();
  if (kube::bool_at(*review, {"response", "allowed"}) != answer.allowed) std::abort();
  if (!answer.allowed && kube::string_at(*review, {"response", "status", "message"}).empty()) std::abort();
  if (!answer.allowed && !answer.patch.empty()) std::abort();
}

void ask_all(const Request& request) {
  check(request, mutate_shadow_pod(request));
  for (const PodPolicy& policy :
       {PodPolicy(), PodPolicy{.host_namespaces = true, .strict_metadata = true, .tolerations = {"*"}}}) {
    const std::string_view origin = request.object.label("offloading.liqo.io/origin");
    check(request, validate_shadow_pod(
                       request, {.remote_cluster = std::string(origin), .policy = policy, .offered_classes = {}}));
    check(request, validate_shadow_pod(request, {.remote_cluster = {}, .policy = policy, .offered_classes = {}}));
    const std::string names[] = {"web"};
    const auto owner_of = [](std::string_view ns) {
      return ns == "shop-rome" ? NamespaceOwner::consumer : NamespaceOwner::others;
    };
    check(request, check_service(request, origin, policy, {.owner_of = owner_of, .is_backend = true}));
    check(request, check_ingress(request, origin, policy, {.external_names = names, .offered = names}));
    for (const TwinKind kind : {TwinKind::secret, TwinKind::config_map})
      check(request, check_orders(request, origin, kind, policy));
    check(request, check_claim(request, origin, policy, names));
    const liqo::core::ShadowPlan plan = liqo::core::plan_shadow_pod({request.object, nullptr}, {}, nullptr, policy);
    if (const auto* create = std::get_if<liqo::core::shadow_action::Create>(&plan))
      liqo::core::plan_provider_pod_update(request.object, create->pod, policy);
  }
  const std::string others[] = {"ns/other"};
  check(request, validate_resource_slice(request, {}));
  check(request, validate_resource_slice(request, others));
  check(request, mutate_tenant(request));
  check(request, validate_tenant(request, {.is_tenant_namespace = true, .namespace_cluster = "rome"}));
  check(request, mutate_foreign_cluster(request));
  check(request, validate_namespace_offloading(request));
  check(request, validate_namespace_map(request));
  check(request, mutate_virtual_node(request));
  check(request, mutate_virtual_node(request, &request.old_object));
  check(request, check_node_of(request, &request.old_object, {}));
  check(request, validate_virtual_node(request));
  check(request, validate_quota(request, others));
  check(request, check_replica(request));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 65536) return -1;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // An annotation comes from an administrator, whose typing is no better than a fuzzer's.
  if (auto policy = read_pod_policy(text); !policy && policy.error().text().empty()) std::abort();
  auto request = decode_review(text);
  if (!request) {
    if (request.error().text().empty()) std::abort();
    return 0;
  }
  ask_all(*request);
  request->user = {"rome", {"liqo.io", "rome"}};
  ask_all(*request);
  request->user.name = "liqo-peer-user-rome-00";
  ask_all(*request);
  // Nothing stands in the way of a deletion.
  request->operation = Operation::remove;
  if (!validate_shadow_pod(*request, {}).allowed) std::abort();
  return 0;
}
