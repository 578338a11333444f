#include "kube/k8s/object.hpp"

#include "kube/base/json_arena.hpp"
#include "kube/base/scalar.hpp"

namespace kube {

std::uint64_t version_number(std::string_view resource_version) {
  return read_number<std::uint64_t>(resource_version).value_or(0);
}

Object Object::make(const Resource& resource, const ObjectKey& key) {
  Object made;
  made.set_kind(resource);
  json::object& metadata = made.mutable_metadata();
  metadata["name"] = key.name;
  if (resource.namespaced) metadata["namespace"] = key.ns;
  return made;
}

Result<Object> Object::from(json::value tree) {
  json::object* object = tree.if_object();
  if (!object) return fail(Errc::parse, "not a Kubernetes object: the document is not a JSON object");
  if (string_at(*object, {"metadata", "name"}).empty())
    return fail(Errc::parse, "not a Kubernetes object: it has no metadata.name");
  return Object(std::move(*object));
}

Result<Object> Object::parse(std::string_view text, const std::shared_ptr<MemoryAccount>& account) {
  KUBE_TRY(tree, parse_json_arena(text, max_object_depth, account));
  return from(std::move(tree));
}

std::int64_t Object::generation() const {
  const json::value* found = find(tree_, {"metadata", "generation"});
  return found && found->is_int64() ? found->get_int64() : 0;
}

void Object::set_kind(const Resource& resource) {
  tree_["apiVersion"] = resource.api_version();
  tree_["kind"] = resource.kind;
}

bool Object::has_finalizer(std::string_view finalizer) const {
  for (const json::value& entry : array_at(tree_, {"metadata", "finalizers"}))
    if (entry.is_string() && entry.get_string() == finalizer) return true;
  return false;
}

std::vector<OwnerReference> Object::owner_references() const {
  std::vector<OwnerReference> owners;
  for (const json::value& entry : array_at(tree_, {"metadata", "ownerReferences"})) {
    owners.push_back({.api_version = std::string(string_at(entry, {"apiVersion"})),
                      .kind = std::string(string_at(entry, {"kind"})),
                      .name = std::string(string_at(entry, {"name"})),
                      .uid = std::string(string_at(entry, {"uid"})),
                      .controller = bool_at(entry, {"controller"}),
                      .block_owner_deletion = bool_at(entry, {"blockOwnerDeletion"})});
  }
  return owners;
}

std::optional<OwnerReference> Object::controller() const {
  for (OwnerReference& owner : owner_references())
    if (owner.controller) return std::move(owner);
  return std::nullopt;
}

void Object::set_label(std::string_view key, std::string_view value) {
  ensure_object(mutable_metadata(), "labels")[key] = value;
}
void Object::set_labels(const json::object& labels) {
  for (const auto& [key, value] : labels)
    if (value.is_string()) set_label(key, value.get_string());
}
void Object::set_annotation(std::string_view key, std::string_view value) {
  ensure_object(mutable_metadata(), "annotations")[key] = value;
}

void Object::add_owner_reference(const OwnerReference& owner) {
  json::array& owners = ensure_array(mutable_metadata(), "ownerReferences");
  json::object entry{{"apiVersion", owner.api_version}, {"kind", owner.kind}, {"name", owner.name}, {"uid", owner.uid}};
  if (owner.controller) entry["controller"] = true;
  if (owner.block_owner_deletion) entry["blockOwnerDeletion"] = true;
  for (json::value& known : owners) {
    if (owner.uid.empty() || string_at(known, {"uid"}) != owner.uid) continue;
    known = std::move(entry);
    return;
  }
  owners.push_back(std::move(entry));
}

}  // namespace kube
