#include "core/namespaces/twin_owner.hpp"

#include "liqo/api/annotations.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// Kubernetes makes UIDs of 36 characters. A provider may answer anything.
constexpr std::size_t max_uid = 64;

bool is_former(std::string_view api_version, std::string_view kind, std::string_view name, std::string_view uid,
               const kube::OwnerReference& owner) {
  return kind == owner.kind && api_version == owner.api_version && name == owner.name && uid != owner.uid;
}

}  // namespace

bool checks_owners(const kube::Object& twin) { return twin.annotation(api::annotations::checks_owners) == "true"; }

std::optional<kube::OwnerReference> twin_owner(const kube::Object& twin) {
  if (twin.is_deleting() || !checks_owners(twin)) return std::nullopt;
  if (twin.name().empty() || twin.uid().empty() || twin.uid().size() > max_uid) return std::nullopt;
  // Neither the controller, because it manages nothing, nor blocking, which would need a further right.
  return kube::OwnerReference{.api_version = kube::resources::namespaces.api_version(),
                              .kind = std::string(kube::resources::namespaces.kind),
                              .name = std::string(twin.name()),
                              .uid = std::string(twin.uid())};
}

bool names_former_twin(const kube::Object& object, const kube::OwnerReference& owner) {
  for (const kube::OwnerReference& known : object.owner_references())
    if (is_former(known.api_version, known.kind, known.name, known.uid, owner)) return true;
  return false;
}

std::optional<json::array> owners_with(const kube::Object& object, const kube::OwnerReference& owner) {
  json::array owners;
  bool is_there = false, is_changed = false;
  for (const json::value& entry : kube::array_at(object.tree(), {"metadata", "ownerReferences"})) {
    const std::string_view uid = kube::string_at(entry, {"uid"});
    if (is_former(kube::string_at(entry, {"apiVersion"}), kube::string_at(entry, {"kind"}),
                  kube::string_at(entry, {"name"}), uid, owner)) {
      is_changed = true;
      continue;
    }
    is_there = is_there || uid == owner.uid;
    owners.push_back(entry);
  }
  if (is_there && !is_changed) return std::nullopt;
  if (!is_there)
    owners.push_back(json::object{
        {"apiVersion", owner.api_version}, {"kind", owner.kind}, {"name", owner.name}, {"uid", owner.uid}});
  return owners;
}

OwnerDoubt doubt_owner(const kube::Failure& failure) {
  if (failure.is_not_found()) return OwnerDoubt::gone;
  if (!failure.status()) return OwnerDoubt::none;
  const std::string& text = failure.text();
  // Kubernetes' words for a create in a Namespace that is being deleted.
  if (failure.is_forbidden() && text.contains("because it is being terminated")) return OwnerDoubt::gone;
  return failure.is_permanent() && text.contains("ownerReferences") ? OwnerDoubt::refused : OwnerDoubt::none;
}

}  // namespace liqo::core
