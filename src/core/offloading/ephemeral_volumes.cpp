#include "core/offloading/ephemeral_volumes.hpp"

#include <algorithm>

#include "core/common/json_values.hpp"

namespace liqo::core {

namespace json = kube::json;

std::string ephemeral_claim_name(std::string_view pod, std::string_view volume) {
  return std::string(pod) + "-" + std::string(volume);
}

bool uses_claim(const kube::Object& pod, std::string_view claim) {
  return std::ranges::any_of(kube::array_at(pod.spec(), {"volumes"}), [&](const json::value& volume) {
    return kube::string_at(volume, {"persistentVolumeClaim", "claimName"}) == claim ||
           (kube::find(volume, {"ephemeral"}) &&
            ephemeral_claim_name(pod.name(), kube::string_at(volume, {"name"})) == claim);
  });
}

kube::Result<void> name_ephemeral_claims(json::object& pod_spec, std::string_view pod, std::string_view storage_class,
                                         const std::function<std::optional<std::string>(std::string_view)>& class_of) {
  std::string missing;
  for_each_object(pod_spec, "volumes", [&](json::object& volume) {
    const json::object* ephemeral = object_in(volume, "ephemeral");
    if (!ephemeral) return;
    const std::string claim = ephemeral_claim_name(pod, kube::string_at(volume, {"name"}));
    std::optional<std::string> named(kube::string_at(*ephemeral, {"volumeClaimTemplate", "spec", "storageClassName"}));
    // A template without a class gets the default class of home, which only the claim shows.
    if (named->empty()) named = class_of(claim);
    if (!named) missing = claim;
    if (named != storage_class) return;
    volume.erase("ephemeral");
    volume["persistentVolumeClaim"] = json::object{{"claimName", claim}};
  });
  if (missing.empty()) return {};
  return kube::fail(kube::Errc::missing, "PersistentVolumeClaim " + missing + " of the pod is not there yet");
}

}  // namespace liqo::core
