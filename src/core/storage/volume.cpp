#include "core/storage/volume.hpp"

#include <algorithm>
#include <array>

#include "core/common/meta.hpp"
#include "core/common/names.hpp"
#include "core/common/selector_text.hpp"
#include "core/policy/orders.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"

namespace liqo::core::storage {
namespace {

namespace json = kube::json;
namespace annotations = api::annotations;
using kube::string_at;

/// The annotation with which Kubernetes marks a claim that has been bound.
constexpr std::string_view bind_completed = "pv.kubernetes.io/bind-completed";
constexpr std::size_t max_label = 63;
constexpr std::string_view placeholder = "/tmp/liqo-placeholder";

json::string text(std::string_view value) { return json::string(value); }

/// Whether the annotation is one of Kubernetes or Liqo about the claim here, which means nothing for the backing claim.
bool is_of_this_claim(std::string_view annotation) {
  return annotation.starts_with("pv.kubernetes.io/") || annotation.starts_with("volume.kubernetes.io/") ||
         annotation.starts_with("volume.beta.kubernetes.io/") || annotation.starts_with("storage.liqo.io/") ||
         annotation == annotations::remote_storage_class || annotation == annotations::remote_access_modes;
}

kube::Result<void> check(const kube::Object& claim) {
  for (const std::string_view field : {"dataSource", "dataSourceRef", "selector"})
    if (const json::value* found = kube::find(claim.spec(), {field}); found && !found->is_null())
      return kube::fail(kube::Errc::invalid_input,
                        "a claim of this class cannot have spec." + std::string(field) + ": its volume begins empty");
  if (!string_at(claim.spec(), {"volumeAttributesClassName"}).empty())
    return kube::fail(kube::Errc::invalid_input,
                      "a claim of this class cannot have spec.volumeAttributesClassName: such classes are not offered");
  return {};
}

kube::Result<json::array> access_modes(const kube::Object& claim) {
  const std::string_view listed = claim.annotation(annotations::remote_access_modes);
  if (listed.empty()) return kube::array_at(claim.spec(), {"accessModes"});
  constexpr std::array<std::string_view, 4> known = {"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany",
                                                     "ReadWriteOncePod"};
  json::array modes;
  for (std::string_view mode : kube::split(listed, ',')) {
    if (mode = kube::trim(mode); mode.empty()) continue;
    if (std::ranges::find(known, mode) == known.end())
      return kube::fail(kube::Errc::invalid_input, "the annotation " + std::string(annotations::remote_access_modes) +
                                                       " has no access mode " + kube::in_quotes(mode));
    modes.push_back(text(mode));
  }
  if (modes.empty()) return kube::array_at(claim.spec(), {"accessModes"});
  return modes;
}

kube::Object forge_claim(const kube::Object& claim, const kube::ObjectKey& key, json::array modes) {
  kube::Object made = kube::Object::make(api::kinds::claims, key);
  json::object& spec = made.mutable_spec();
  spec["accessModes"] = std::move(modes);
  const std::string_view mode = string_at(claim.spec(), {"volumeMode"});
  spec["volumeMode"] = text(mode.empty() ? "Filesystem" : mode);
  spec["resources"] = json::object{
      {"requests", json::object{{"storage", string_at(claim.spec(), {"resources", "requests", "storage"})}}}};
  made.set_annotation(annotations::virtual_claim_uid, claim.uid());
  made.set_annotation(annotations::virtual_claim, claim.key().text());
  return made;
}

}  // namespace

bool had_volume(const kube::Object& claim) { return string_at(claim.spec(), {"volumeName"}) == volume_name(claim); }

bool is_provisioned(const kube::Object& claim) {
  return claim.annotation(annotations::volume_provisioner) == api::storage_provisioner ||
         claim.annotation(annotations::volume_provisioner_beta) == api::storage_provisioner;
}

bool is_due(const kube::Object& claim, std::string_view storage_class) {
  return !storage_class.empty() && string_at(claim.spec(), {"storageClassName"}) == storage_class &&
         is_provisioned(claim) && !claim.annotation(annotations::selected_node).empty() &&
         string_at(claim.spec(), {"volumeName"}).empty() && !claim.has_annotation(bind_completed);
}

std::string_view name_at_provider(const kube::Object& claim) {
  const std::string_view moved = claim.annotation(annotations::moves_claim);
  return is_path_name(moved) ? moved : claim.name();
}

std::string_view volume_to_take(const kube::Object& claim) { return claim.annotation(annotations::takes_volume); }

bool is_given_to(const kube::Object& volume, const kube::Object& claim) {
  return recorded_backing(volume) && volume.annotation(annotations::given_to) == claim.key().text() &&
         string_at(volume.status(), {"phase"}) == "Released" && !volume.is_deleting() &&
         string_at(volume.spec(), {"persistentVolumeReclaimPolicy"}) == "Retain";
}

json::object backing_notes(const kube::Object& claim) {
  return {{"metadata",
           json::object{{"annotations", json::object{{annotations::virtual_claim_uid, text(claim.uid())},
                                                     {annotations::virtual_claim, text(claim.key().text())}}}}}};
}

bool is_bound(const kube::Object& claim) { return string_at(claim.status(), {"phase"}) == "Bound"; }

std::string volume_name(const kube::Object& claim) { return "pvc-" + std::string(claim.uid()); }

bool is_volume_of(const kube::Object& volume, const kube::Object& claim) {
  return backing_of(volume) && string_at(volume.spec(), {"claimRef", "uid"}) == claim.uid();
}

bool is_go_volume_of(const kube::Object& volume, const kube::Object& claim) {
  return volume.annotation(annotations::provisioned_by) == api::storage_provisioner &&
         !volume.has_annotation(annotations::backing_claim) &&
         string_at(volume.spec(), {"claimRef", "uid"}) == claim.uid();
}

bool is_backing_of(const kube::Object& backing, std::string_view claim_uid) {
  return !claim_uid.empty() && backing.annotation(annotations::virtual_claim_uid) == claim_uid;
}

std::optional<Backing> recorded_backing(const kube::Object& volume) {
  if (volume.annotation(annotations::provisioned_by) != api::storage_provisioner) return std::nullopt;
  auto key = kube::ObjectKey::parse(volume.annotation(annotations::backing_claim));
  if (!key || volume.annotation(annotations::backing_claim_uid).empty()) return std::nullopt;
  return Backing{.cluster = std::string(volume.annotation(annotations::backing_cluster)),
                 .key = std::move(*key),
                 .uid = std::string(volume.annotation(annotations::backing_claim_uid))};
}

std::optional<Backing> backing_of(const kube::Object& volume) {
  auto backing = recorded_backing(volume);
  // A volume whose annotations were forged must not lead to the backing claim of another one.
  const std::string_view claim_uid = string_at(volume.spec(), {"claimRef", "uid"});
  if (claim_uid.empty() || volume.name() != "pvc-" + std::string(claim_uid)) return std::nullopt;
  return backing;
}

std::string_view cluster_by_affinity(const kube::Object& volume) {
  for (const json::value& term : kube::array_at(volume.spec(), {"nodeAffinity", "required", "nodeSelectorTerms"}))
    for (const json::value& expression : kube::array_at(term, {"matchExpressions"})) {
      const json::array& values = kube::array_at(expression, {"values"});
      if (string_at(expression, {"key"}) == api::labels::remote_cluster_id &&
          string_at(expression, {"operator"}) == "In" && values.size() == 1 && values.front().is_string())
        return values.front().get_string();
    }
  return {};
}

std::optional<std::string> unrecorded_place(const kube::Object& volume, const kube::Object& claim) {
  if (volume.annotation(annotations::provisioned_by) != api::storage_provisioner ||
      volume.has_annotation(annotations::backing_claim) || volume.name() != volume_name(claim) ||
      string_at(volume.spec(), {"claimRef", "uid"}) != claim.uid() || volume.is_deleting())
    return std::nullopt;
  if (string_at(volume.spec(), {"hostPath", "path"}) != placeholder) return "";
  const std::string_view cluster = cluster_by_affinity(volume);
  return cluster.empty() ? std::nullopt : std::optional(std::string(cluster));
}

bool is_unrecorded_backing(const kube::Object& backing, const kube::Object& claim, const ClusterPair* clusters) {
  if (backing.has_annotation(annotations::virtual_claim_uid) || backing.is_deleting()) return false;
  if (clusters) return backing.name() == claim.name() && is_reflected(backing, *clusters);
  return backing.name() == claim.uid() && backing.label(api::labels::virtual_claim_namespace) == claim.ns() &&
         backing.label(api::labels::virtual_claim_name) == claim.name();
}

bool is_stray_backing(const kube::Object& backing, const kube::Object& claim, const ClusterPair& clusters) {
  return is_reflected(backing, clusters) && !backing.is_deleting() && backing.name() == claim.name() &&
         backing.has_annotation(annotations::virtual_claim_uid) && !is_backing_of(backing, claim.uid()) &&
         backing.annotation(annotations::virtual_claim) == claim.key().text();
}

json::object backing_record(const Backing& backing) {
  json::object notes{{annotations::backing_claim, text(backing.key.text())},
                     {annotations::backing_claim_uid, text(backing.uid)}};
  if (!backing.cluster.empty()) notes[annotations::backing_cluster] = text(backing.cluster);
  return {{"metadata", json::object{{"annotations", std::move(notes)}}}};
}

kube::Result<kube::Object> forge_remote_claim(const kube::Object& claim, std::string_view remote_namespace,
                                              const api::VirtualNode& offers, const ForgingContext& context) {
  KUBE_TRYV(check(claim));
  KUBE_TRY(modes, access_modes(claim));
  const std::string_view asked = claim.annotation(annotations::remote_storage_class);
  std::vector<std::string_view> offered;
  for (const json::value& offer : offers.storage_classes()) offered.push_back(string_at(offer, {"storageClassName"}));
  if (!asked.empty() && std::ranges::find(offered, asked) == offered.end())
    return kube::fail(kube::Errc::invalid_input,
                      "cluster " + context.clusters.remote + " does not offer the class " + kube::in_quotes(asked) +
                          " that the annotation " + std::string(annotations::remote_storage_class) +
                          " asks for; it offers " + kube::one_line(kube::join(offered, ", "), 500));
  kube::Object made =
      forge_claim(claim, {std::string(remote_namespace), std::string(name_at_provider(claim))}, std::move(modes));
  made.mutable_spec()["storageClassName"] = text(asked.empty() ? offers.storage_class() : asked);
  for (const auto& [key, value] : reflected_labels(claim, context))
    made.set_label(key, value.is_string() ? std::string_view(value.get_string()) : "");
  for (const auto& [key, value] : reflected_annotations(claim, context))
    if (!is_of_this_claim(key) && value.is_string()) made.set_annotation(key, value.get_string());
  leave_at_home(made.mutable_metadata(), TwinKind::claim, context.kept_keys);
  return made;
}

kube::Result<kube::Object> forge_real_claim(const kube::Object& claim, std::string_view storage_namespace,
                                            std::string_view real_class) {
  KUBE_TRYV(check(claim));
  kube::Object made = forge_claim(claim, {std::string(storage_namespace), std::string(claim.uid())},
                                  kube::array_at(claim.spec(), {"accessModes"}));
  if (!real_class.empty()) made.mutable_spec()["storageClassName"] = text(real_class);
  made.set_annotation(annotations::selected_node, claim.annotation(annotations::selected_node));
  // The Go version sets these labels too, and people look for them. A longer name does not fit into a label.
  if (claim.name().size() <= max_label) {
    made.set_label(api::labels::virtual_claim_namespace, claim.ns());
    made.set_label(api::labels::virtual_claim_name, claim.name());
  }
  return made;
}

json::array volume_modes(const kube::Object& claim, const kube::Object& backing) {
  json::array modes = kube::array_at(claim.spec(), {"accessModes"});
  if (string_at(backing.status(), {"phase"}) == "Bound")
    for (const json::value& mode : kube::array_at(backing.status(), {"accessModes"}))
      if (std::ranges::find(modes, mode) == modes.end()) modes.push_back(mode);
  return modes;
}

kube::Object forge_volume(const kube::Object& claim, const kube::Object& storage_class,
                          const ObservedBacking& observed) {
  const auto& [backing, backing_claim, real_volume] = observed;
  kube::Object volume = kube::Object::make(api::kinds::volumes, {"", volume_name(claim)});
  volume.set_annotation(annotations::provisioned_by, api::storage_provisioner);
  volume.set_annotation(annotations::backing_claim, backing.key.text());
  volume.set_annotation(annotations::backing_claim_uid, backing.uid);
  if (!backing.cluster.empty()) volume.set_annotation(annotations::backing_cluster, backing.cluster);

  json::object& spec = volume.mutable_spec();
  spec["storageClassName"] = text(string_at(claim.spec(), {"storageClassName"}));
  spec["accessModes"] = volume_modes(claim, backing_claim);
  std::string_view size = string_at(backing_claim.status(), {"capacity", "storage"});
  if (!is_bound(backing_claim) || size.empty()) size = string_at(claim.spec(), {"resources", "requests", "storage"});
  spec["capacity"] = json::object{{"storage", size}};
  const std::string_view mode = string_at(claim.spec(), {"volumeMode"});
  spec["volumeMode"] = text(mode.empty() ? "Filesystem" : mode);
  const std::string_view policy = string_at(storage_class.tree(), {"reclaimPolicy"});
  spec["persistentVolumeReclaimPolicy"] = text(policy.empty() ? "Delete" : policy);
  spec["claimRef"] = json::object{{"apiVersion", api::kinds::claims.api_version()},
                                  {"kind", api::kinds::claims.kind},
                                  {"namespace", claim.ns()},
                                  {"name", claim.name()},
                                  {"uid", claim.uid()}};

  json::array terms;
  if (real_volume) {
    // Every field of the spec but these belongs to the volume source.
    constexpr std::array<std::string_view, 9> others = {
        "accessModes",      "capacity",     "claimRef",
        "mountOptions",     "nodeAffinity", "persistentVolumeReclaimPolicy",
        "storageClassName", "volumeMode",   "volumeAttributesClassName"};
    for (const auto& [key, value] : real_volume->spec())
      if (std::ranges::find(others, std::string_view(key)) == others.end()) spec[key] = value;
    if (const json::array& options = kube::array_at(real_volume->spec(), {"mountOptions"}); !options.empty())
      spec["mountOptions"] = options;
    const json::object here = requirement(api::labels::type, "DoesNotExist");
    for (json::value term : kube::array_at(real_volume->spec(), {"nodeAffinity", "required", "nodeSelectorTerms"})) {
      if (!term.is_object()) continue;
      json::array expressions = kube::array_at(term, {"matchExpressions"});
      expressions.push_back(here);
      term.get_object()["matchExpressions"] = std::move(expressions);
      terms.push_back(std::move(term));
    }
    if (terms.empty()) terms.push_back(json::object{{"matchExpressions", json::array{here}}});
  } else {
    // The path is never mounted: the node affinity excludes the nodes of this cluster, and kubelets check it as well.
    spec["hostPath"] = json::object{{"path", placeholder}};
    terms.push_back(json::object{
        {"matchExpressions", json::array{requirement(api::labels::remote_cluster_id, "In", {text(backing.cluster)})}}});
  }
  spec["nodeAffinity"] = json::object{{"required", json::object{{"nodeSelectorTerms", std::move(terms)}}}};
  return volume;
}

}  // namespace liqo::core::storage
