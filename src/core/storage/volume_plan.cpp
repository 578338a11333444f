#include "core/storage/volume_plan.hpp"

#include <algorithm>

#include "core/storage/volume.hpp"
#include "kube/base/quantity.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::core::storage {
namespace {

namespace json = kube::json;
namespace reasons = api::reasons;
using kube::string_at;
namespace action = volume_action;

kube::Quantity amount(std::string_view text) { return kube::Quantity::parse(text).value_or(kube::Quantity()); }

std::string_view requested(const kube::Object& claim) {
  return string_at(claim.spec(), {"resources", "requests", "storage"});
}

json::object storage(std::string_view size) { return {{"storage", size}}; }

/// The access modes in `wanted` that `given` lacks, as text.
std::string lacking(const json::array& wanted, const json::array& given) {
  std::vector<std::string_view> missing;
  for (const json::value& mode : wanted)
    if (mode.is_string() && std::ranges::find(given, mode) == given.end()) missing.emplace_back(mode.get_string());
  return kube::join(missing, ", ");
}

/// Updates volume and claim to what the backing claim has got.
void follow(const VolumeSight& sight, action::Keep& plan) {
  const kube::Object &volume = *sight.volume, &backing = *sight.backing;
  const std::string_view size = string_at(backing.status(), {"capacity", "storage"});
  const json::array modes = volume_modes(sight.claim, backing);
  const std::string_view shown = string_at(volume.spec(), {"capacity", "storage"});
  // With a backing claim in this cluster both volumes are the same disk. external-resizer and kubelets may grow it
  // through either of them, so the capacity shown never falls.
  const bool is_local = volume.annotation(api::annotations::backing_cluster).empty();
  const bool is_ours_to_tell = !size.empty() && !(is_local && kube::find(volume.spec(), {"csi"}));
  const auto differs = [&](std::string_view seen) {
    return is_ours_to_tell && (is_local ? amount(size) > amount(seen) : amount(size) != amount(seen));
  };
  json::object spec;
  if (differs(shown)) {
    spec["capacity"] = storage(size);
    plan.warning = {
        .reason = reasons::volume_resized,
        .message = "the volume in " + sight.where + " has " + std::string(size) + ", not " + std::string(shown),
        .for_pods = amount(size) != amount(requested(sight.claim))};
  }
  if (modes != kube::array_at(volume.spec(), {"accessModes"})) spec["accessModes"] = modes;
  const json::array& given = kube::array_at(backing.status(), {"accessModes"});
  // A user who sets other modes for the provider has meant them.
  if (!given.empty() && sight.claim.annotation(api::annotations::remote_access_modes).empty())
    if (const std::string missing = lacking(kube::array_at(sight.claim.spec(), {"accessModes"}), given);
        !missing.empty())
      plan.warning = {.reason = reasons::volume_differs,
                      .message = "the volume in " + sight.where + " cannot be used as " + missing,
                      .for_pods = true};
  if (!spec.empty()) plan.steps.emplace_back(action::PatchVolume{{{"spec", std::move(spec)}}});
  if (!is_bound(sight.claim)) return;
  json::object status;
  if (differs(string_at(sight.claim.status(), {"capacity", "storage"}))) status["capacity"] = storage(size);
  if (modes != kube::array_at(sight.claim.status(), {"accessModes"})) status["accessModes"] = modes;
  if (!status.empty()) plan.steps.emplace_back(action::PatchClaim{{{"status", std::move(status)}}});
}

VolumeWarning late_warning(const VolumeSight& sight) {
  return {.reason = reasons::volume_pending,
          .message = "the claim " + sight.backing->key().text() + " in " + sight.where +
                     ", which is to hold the data, is not bound after " + std::to_string(binding_patience.count()) +
                     " s: its Events there say why",
          .for_pods = true};
}

/// A new empty volume in place of the lost one would look as if there had never been any data.
VolumePlan plan_lost(const VolumeSight& sight) {
  if (sight.backing && is_bound(*sight.backing) && !sight.backing->is_deleting() &&
      is_backing_of(*sight.backing, sight.claim.uid()))
    return action::CreateVolume();
  return action::Keep{.warning = VolumeWarning{.reason = reasons::volume_lost,
                                               .message = "the PersistentVolume " + volume_name(sight.claim) +
                                                          " is gone, and in " + sight.where +
                                                          " there is no claim that holds its data",
                                               .for_pods = true}};
}

VolumePlan plan_new(const VolumeSight& sight) {
  if (!sight.backing) return action::CreateBacking();
  const kube::Object& backing = *sight.backing;
  const std::string name = "the claim " + backing.key().text() + " in " + sight.where;
  const auto warn = [](std::string message) {
    return action::AwaitBacking{
        VolumeWarning{.reason = reasons::provisioning_failed, .message = std::move(message), .for_pods = false}};
  };
  if (!is_backing_of(backing, sight.claim.uid()))
    return warn(name + " belongs to something else: remove it, or take another name");
  if (backing.is_deleting()) return warn(name + " is being deleted");
  if (is_bound(backing) || sight.waits_for_consumer) return action::CreateVolume();
  if (sight.is_local &&
      backing.annotation(api::annotations::selected_node) != sight.claim.annotation(api::annotations::selected_node))
    return action::Discard();
  if (sight.is_late) return action::AwaitBacking{late_warning(sight)};
  return action::AwaitBacking();
}

action::Keep plan_present(const VolumeSight& sight) {
  const auto recorded = backing_of(*sight.volume);
  if (!recorded || !is_volume_of(*sight.volume, sight.claim))
    return {.warning = VolumeWarning{.reason = reasons::provisioning_failed,
                                     .message = "there is a PersistentVolume " + std::string(sight.volume->name()) +
                                                " that was made by somebody else",
                                     .for_pods = false}};
  if (!sight.backing || sight.backing->uid() != recorded->uid || !is_backing_of(*sight.backing, sight.claim.uid()))
    return {.warning = VolumeWarning{.reason = reasons::volume_lost,
                                     .message = "the claim " + recorded->key.text() + " in " + sight.where +
                                                ", which held the data, is gone" +
                                                (sight.backing ? ", and another one has its name" : ""),
                                     .for_pods = true}};
  action::Keep plan;
  if (amount(requested(sight.claim)) > amount(requested(*sight.backing)))
    plan.steps.emplace_back(action::PatchBacking{
        {{"spec", json::object{{"resources", json::object{{"requests", storage(requested(sight.claim))}}}}}}});
  if (is_bound(*sight.backing)) {
    follow(sight, plan);
  } else if (sight.is_late) {
    plan.warning = late_warning(sight);
  }
  return plan;
}

}  // namespace

VolumePlan plan_volume(const VolumeSight& sight) {
  if (sight.volume) return plan_present(sight);
  return had_volume(sight.claim) ? plan_lost(sight) : plan_new(sight);
}

bool has_grown(const kube::Object& claim, const kube::Object& backing) {
  return amount(string_at(backing.status(), {"capacity", "storage"})) >= amount(requested(claim));
}

bool is_to_be_deleted(const kube::Object& volume) {
  return backing_of(volume) && string_at(volume.status(), {"phase"}) == "Released" && !volume.is_deleting() &&
         string_at(volume.spec(), {"persistentVolumeReclaimPolicy"}) == "Delete";
}

}  // namespace liqo::core::storage
