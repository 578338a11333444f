#include "core/offloading/ephemeral_volumes.hpp"

#include <algorithm>

#include "core/common/json_values.hpp"

namespace liqo::core {

namespace json = kube::json;
namespace {

bool is_made_for(const kube::Object& claim, const kube::Object& pod) {
  const auto owner = claim.controller();
  return owner && owner->uid == pod.uid();
}

}  // namespace

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

kube::Result<void> name_ephemeral_claims(json::object& pod_spec, const kube::Object& pod,
                                         std::string_view storage_class,
                                         const std::function<std::optional<kube::Object>(std::string_view)>& claim_of) {
  std::string missing, foreign;
  for_each_object(pod_spec, "volumes", [&](json::object& volume) {
    const json::object* ephemeral = object_in(volume, "ephemeral");
    if (!ephemeral) return;
    const std::string_view named = kube::string_at(*ephemeral, {"volumeClaimTemplate", "spec", "storageClassName"});
    if (!named.empty() && named != storage_class) return;
    const std::string name = ephemeral_claim_name(pod.name(), kube::string_at(volume, {"name"}));
    const auto claim = claim_of(name);
    // A template without a class gets the default class of home, which only the claim shows.
    if (named.empty() && !claim) missing = name;
    if (named.empty() && (!claim || kube::string_at(claim->spec(), {"storageClassName"}) != storage_class)) return;
    if (claim && !is_made_for(*claim, pod)) foreign = name;
    volume.erase("ephemeral");
    volume["persistentVolumeClaim"] = json::object{{"claimName", name}};
  });
  if (!foreign.empty())
    return kube::fail(kube::Errc::invalid_input, "PersistentVolumeClaim " + foreign +
                                                     " was not made for the pod, and has the name of the claim of its "
                                                     "ephemeral volume: rename the pod, or the volume");
  if (missing.empty()) return {};
  return kube::fail(kube::Errc::missing, "PersistentVolumeClaim " + missing + " of the pod is not there yet");
}

}  // namespace liqo::core
