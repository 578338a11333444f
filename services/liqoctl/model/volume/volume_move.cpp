#include "model/volume/volume_move.hpp"

#include <algorithm>

#include "core/storage/volume_carrier.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/shadow_pod.hpp"
#include "model/events.hpp"

namespace liqoctl::model {
namespace {

namespace json = kube::json;
namespace kinds = liqo::api::kinds;
namespace annotations = liqo::api::annotations;
namespace storage = liqo::core::storage;
using kube::string_at;

/// Whether an annotation is a note of Kubernetes' controllers or of liqod about the earlier claim.
bool is_note(std::string_view annotation) {
  return annotation.starts_with("pv.kubernetes.io/") || annotation.starts_with("volume.kubernetes.io/") ||
         annotation.starts_with("volume.beta.kubernetes.io/") || annotation.starts_with("storage.liqo.io/") ||
         annotation == liqo::api::annotations::last_applied;
}

/// The most bytes of others' text that are shown.
constexpr std::size_t max_reason = 512;

json::string text(std::string_view value) { return json::string(value); }

}  // namespace

std::string move_name(std::string_view claim) {
  std::string name = "liqo-move-" + std::string(claim.substr(0, 230));
  while (name.ends_with('.') || name.ends_with('-')) name.pop_back();
  return name;
}

kube::Object claim_to_keep(const kube::Object& claim) {
  kube::Object kept = kube::Object::make(kinds::claims, claim.key());
  kept.set_labels(claim.labels());
  for (const auto& [key, value] : claim.annotations())
    if (!is_note(key) && value.is_string()) kept.set_annotation(key, std::string_view(value.get_string()));
  if (const auto& owners = kube::array_at(claim.metadata(), {"ownerReferences"}); !owners.empty())
    kept.mutable_metadata()["ownerReferences"] = owners;
  kept.mutable_spec() = claim.spec();
  kept.mutable_spec().erase("volumeName");
  return kept;
}

kube::Object forge_temporary_claim(const kube::Object& claim, std::string_view node) {
  kube::Object made = claim_to_keep(claim);
  made.mutable_metadata()["name"] = move_name(claim.name());
  // Labels and owners of the claim may mean something to other controllers.
  made.mutable_metadata().erase("labels");
  made.mutable_metadata().erase("ownerReferences");
  made.set_annotation(annotations::selected_node, node);
  made.set_annotation(annotations::moves_claim, claim.name());
  return made;
}

kube::Object forge_claim_of_volume(const kube::Object& kept, std::string_view node, std::string_view volume) {
  kube::Object made = kept;
  made.set_annotation(annotations::selected_node, node);
  made.set_annotation(annotations::takes_volume, volume);
  return made;
}

std::vector<std::string> users_of(const std::vector<kube::Object>& pods, std::string_view claim,
                                  std::span<const std::string> carriers) {
  std::vector<std::string> users;
  for (const kube::Object& pod : pods) {
    if (liqo::api::is_final_phase(liqo::api::phase_of(pod)) ||
        std::ranges::find(carriers, pod.name()) != carriers.end())
      continue;
    if (std::ranges::any_of(kube::array_at(pod.spec(), {"volumes"}), [&](const json::value& volume) {
          return string_at(volume, {"persistentVolumeClaim", "claimName"}) == claim ||
                 (kube::find(volume, {"ephemeral"}) &&
                  std::string(pod.name()) + "-" + std::string(string_at(volume, {"name"})) == claim);
        }))
      users.emplace_back(pod.name());
  }
  return users;
}

kube::Object forge_carrier(const CarrierRequest& request) {
  kube::Object pod = kube::Object::make(kube::resources::pods, request.key);
  pod.set_label(storage::carrier_label, storage::carries_volume);
  pod.set_label(storage::manager_label, storage::managed_by_liqoctl);
  // Files may have any owner and permissions.
  json::array capabilities{"DAC_OVERRIDE"};
  const bool writes = request.carrier == Carrier::writes;
  if (writes) capabilities.insert(capabilities.end(), {"CHOWN", "FOWNER", "FSETID"});
  const json::object security{
      {"runAsUser", 0},
      {"runAsNonRoot", false},
      {"allowPrivilegeEscalation", false},
      {"readOnlyRootFilesystem", true},
      {"seccompProfile", json::object{{"type", "RuntimeDefault"}}},
      {"capabilities", json::object{{"drop", json::array{"ALL"}}, {"add", std::move(capabilities)}}}};
  const auto& [program, verb, what] = storage::carrier_command;
  const json::object container{
      {"name", "carrier"},
      {"image", text(request.image)},
      {"command", json::array{text(program), text(verb), text(what)}},
      {"securityContext", security},
      {"resources", json::object{{"requests", json::object{{"cpu", "50m"}, {"memory", "64Mi"}}},
                                 {"limits", json::object{{"cpu", "1"}, {"memory", "256Mi"}}}}},
      {"volumeMounts",
       json::array{json::object{{"name", "data"}, {"mountPath", volume_directory}, {"readOnly", !writes}}}}};
  json::object& spec = pod.mutable_spec();
  spec["containers"] = json::array{container};
  spec["restartPolicy"] = "Never";
  spec["activeDeadlineSeconds"] = request.seconds;
  spec["terminationGracePeriodSeconds"] = 1;
  spec["automountServiceAccountToken"] = false;
  spec["enableServiceLinks"] = false;
  spec["tolerations"] = json::array{json::object{{"operator", "Exists"}}};
  if (!request.node.empty()) spec["nodeName"] = text(request.node);
  spec["volumes"] = json::array{
      json::object{{"name", "data"}, {"persistentVolumeClaim", json::object{{"claimName", text(request.claim)}}}}};
  return pod;
}

std::string why_ended(const kube::Object& pod) {
  if (!liqo::api::is_final_phase(liqo::api::phase_of(pod))) return {};
  std::string why(string_at(pod.status(), {"reason"}));
  const auto add = [&why](std::string_view words) {
    if (!words.empty()) why += (why.empty() ? "" : ": ") + std::string(words.substr(0, max_reason));
  };
  add(string_at(pod.status(), {"message"}));
  for (const json::value& status : kube::array_at(pod.status(), {"containerStatuses"})) {
    add(string_at(status, {"state", "terminated", "reason"}));
    add(string_at(status, {"state", "terminated", "message"}));
  }
  return why.empty() ? "phase " + std::string(liqo::api::phase_of(pod)) : kube::printable(why);
}

std::string newest_of_all(const std::vector<kube::Object>& events) {
  const auto newest = std::ranges::max_element(events, {}, [](const kube::Object& event) { return last_seen(event); });
  return newest == events.end() ? "" : kube::printable(string_at(newest->tree(), {"message"}).substr(0, max_reason));
}

std::string write_record(const MoveRecord& record) {
  return json::serialize(json::object{{"claim", record.claim.tree()},
                                      {"uid", text(record.uid)},
                                      {"node", text(record.node)},
                                      {"source", text(record.source)},
                                      {"policy", text(record.policy)},
                                      {"formerNode", text(record.former_node)},
                                      {"verified", record.verified}});
}

std::optional<MoveRecord> read_record(const kube::Object& volume) {
  const std::string_view written = volume.annotation(annotations::move_record);
  if (written.empty()) return std::nullopt;
  const auto read = kube::parse_json(written);
  if (!read) return std::nullopt;
  auto claim = kube::Object::from(kube::object_at(*read, {"claim"}));
  if (!claim) return std::nullopt;
  const auto at = [&](std::string_view key) { return std::string(string_at(*read, {key})); };
  return MoveRecord{.claim = std::move(*claim),
                    .uid = at("uid"),
                    .node = at("node"),
                    .source = at("source"),
                    .policy = at("policy"),
                    .former_node = at("formerNode"),
                    .verified = kube::bool_at(*read, {"verified"})};
}

}  // namespace liqoctl::model
