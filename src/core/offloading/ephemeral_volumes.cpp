#include "core/offloading/ephemeral_volumes.hpp"

#include "core/common/json_values.hpp"

namespace liqo::core {

namespace json = kube::json;

std::string ephemeral_claim_name(std::string_view pod, std::string_view volume) {
  return std::string(pod) + "-" + std::string(volume);
}

void name_ephemeral_claims(json::object& pod_spec, std::string_view pod, std::string_view storage_class,
                           const std::function<bool(std::string_view)>& follows) {
  for_each_object(pod_spec, "volumes", [&](json::object& volume) {
    const json::object* ephemeral = object_in(volume, "ephemeral");
    if (!ephemeral) return;
    const std::string claim = ephemeral_claim_name(pod, kube::string_at(volume, {"name"}));
    const std::string_view asked = kube::string_at(*ephemeral, {"volumeClaimTemplate", "spec", "storageClassName"});
    // A template without a class gets the default class of home, which only the claim shows.
    if (asked != storage_class && !(asked.empty() && follows(claim))) return;
    volume.erase("ephemeral");
    volume["persistentVolumeClaim"] = json::object{{"claimName", claim}};
  });
}

}  // namespace liqo::core
