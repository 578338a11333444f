#include "liqo/core/storage/volume_plan.hpp"

#include <algorithm>

#include "kube/base/quantity.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/core/storage/volume.hpp"

namespace liqo::core::storage {
namespace {

namespace json = kube::json;
namespace reasons = api::reasons;
using kube::string_at;
using Next = VolumePlan::Next;

bool is_bound(const kube::Object& claim) { return string_at(claim.status(), {"phase"}) == "Bound"; }

kube::Quantity amount(std::string_view text) { return kube::Quantity::parse(text).value_or(kube::Quantity()); }

std::string_view requested(const kube::Object& claim) {
  return string_at(claim.spec(), {"resources", "requests", "storage"});
}

json::object storage(std::string_view size) { return {{"storage", size}}; }

/// The access modes in `wanted` that `given` lacks, as text.
std::string lacking(const json::array& wanted, const json::array& given) {
  std::string words;
  for (const json::value& mode : wanted)
    if (mode.is_string() && std::ranges::find(given, mode) == given.end())
      words += (words.empty() ? "" : ", ") + std::string(mode.get_string());
  return words;
}

void tell(VolumePlan& plan, std::string_view reason, std::string message, bool for_pods) {
  plan.reason = reason;
  plan.message = std::move(message);
  plan.for_pods = for_pods;
}

/// Updates volume and claim to what the backing claim has got.
void follow(VolumePlan& plan, const VolumeSight& sight) {
  const kube::Object &volume = *sight.volume, &backing = *sight.backing;
  const std::string_view size = string_at(backing.status(), {"capacity", "storage"});
  const json::array modes = volume_modes(sight.claim, backing);
  const std::string_view shown = string_at(volume.spec(), {"capacity", "storage"});
  // With a backing claim in this cluster both volumes are the same disk. external-resizer and kubelets may grow it
  // through either of them, so the capacity shown never falls.
  const bool is_local = volume.annotation(api::annotations::backing_cluster).empty();
  const bool is_ours_to_tell = !size.empty() && !(is_local && kube::find(volume.spec(), {"csi"}));
  const auto differs = [&](std::string_view told) {
    return is_ours_to_tell && (is_local ? amount(size) > amount(told) : amount(size) != amount(told));
  };
  json::object spec;
  if (differs(shown)) {
    spec["capacity"] = storage(size);
    tell(plan, reasons::volume_resized,
         "the volume in " + sight.where + " has " + std::string(size) + ", not " + std::string(shown),
         amount(size) != amount(requested(sight.claim)));
  }
  if (modes != kube::array_at(volume.spec(), {"accessModes"})) spec["accessModes"] = modes;
  const json::array& given = kube::array_at(backing.status(), {"accessModes"});
  // A user who sets other modes for the provider has meant them.
  if (!given.empty() && sight.claim.annotation(api::annotations::remote_access_modes).empty())
    if (const std::string missing = lacking(kube::array_at(sight.claim.spec(), {"accessModes"}), given);
        !missing.empty())
      tell(plan, reasons::volume_differs, "the volume in " + sight.where + " cannot be used as " + missing, true);
  if (!spec.empty()) plan.volume["spec"] = std::move(spec);
  if (!is_bound(sight.claim)) return;
  json::object status;
  if (differs(string_at(sight.claim.status(), {"capacity", "storage"}))) status["capacity"] = storage(size);
  if (modes != kube::array_at(sight.claim.status(), {"accessModes"})) status["accessModes"] = modes;
  if (!status.empty()) plan.claim_status["status"] = std::move(status);
}

}  // namespace

VolumePlan plan_volume(const VolumeSight& sight) {
  VolumePlan plan;
  const std::string name = sight.backing ? sight.backing->key().text() : "";
  const std::string late = "the claim " + name + " in " + sight.where +
                           ", which is to hold the data, is not bound after " + "60 s: its Events there say why";
  if (!sight.volume && had_volume(sight.claim)) {
    // A new empty volume in place of the lost one would look as if there had never been any data.
    if (sight.backing && is_bound(*sight.backing) && !sight.backing->is_deleting() &&
        is_backing_of(*sight.backing, sight.claim.uid()))
      plan.next = Next::create_volume;
    else
      tell(plan, reasons::volume_lost,
           "the PersistentVolume " + volume_name(sight.claim) + " is gone, and in " + sight.where +
               " there is no claim that holds its data",
           true);
    return plan;
  }
  if (!sight.volume) {
    if (!sight.backing) {
      plan.next = Next::create_backing;
      return plan;
    }
    plan.next = Next::wait;
    const std::string_view node = sight.backing->annotation(api::annotations::selected_node);
    if (!is_backing_of(*sight.backing, sight.claim.uid()))
      tell(plan, reasons::provisioning_failed,
           "the claim " + name + " in " + sight.where + " belongs to something else: remove it, or take another name",
           false);
    else if (sight.backing->is_deleting())
      tell(plan, reasons::provisioning_failed, "the claim " + name + " in " + sight.where + " is being deleted", false);
    else if (is_bound(*sight.backing) || sight.waits_for_consumer)
      plan.next = Next::create_volume;
    else if (sight.where == this_cluster && node != sight.claim.annotation(api::annotations::selected_node))
      plan.next = Next::discard;
    else if (sight.is_late)
      tell(plan, reasons::volume_pending, late, true);
    return plan;
  }
  const auto recorded = backing_of(*sight.volume);
  if (!recorded || !is_volume_of(*sight.volume, sight.claim)) {
    tell(plan, reasons::provisioning_failed,
         "there is a PersistentVolume " + std::string(sight.volume->name()) + " that was made by somebody else", false);
    return plan;
  }
  if (!sight.backing || sight.backing->uid() != recorded->uid || !is_backing_of(*sight.backing, sight.claim.uid())) {
    tell(plan, reasons::volume_lost,
         "the claim " + recorded->key.text() + " in " + sight.where + ", which held the data, is gone" +
             (sight.backing ? ", and another one has its name" : ""),
         true);
    return plan;
  }
  if (amount(requested(sight.claim)) > amount(requested(*sight.backing)))
    plan.backing["spec"] = json::object{{"resources", json::object{{"requests", storage(requested(sight.claim))}}}};
  if (is_bound(*sight.backing)) {
    follow(plan, sight);
  } else if (sight.is_late) {
    tell(plan, reasons::volume_pending, late, true);
  }
  return plan;
}

bool has_grown(const kube::Object& claim, const kube::Object& backing) {
  return amount(string_at(backing.status(), {"capacity", "storage"})) >= amount(requested(claim));
}

bool is_to_be_deleted(const kube::Object& volume) {
  return backing_of(volume) && string_at(volume.status(), {"phase"}) == "Released" && !volume.is_deleting() &&
         string_at(volume.spec(), {"persistentVolumeReclaimPolicy"}) == "Delete";
}

}  // namespace liqo::core::storage
