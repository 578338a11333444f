#include "core/common/owner.hpp"

#include <algorithm>

namespace liqo::core {

kube::OwnerReference owner_of(const kube::Object& owner, bool controller) {
  return {.api_version = std::string(owner.api_version()),
          .kind = std::string(owner.kind()),
          .name = std::string(owner.name()),
          .uid = std::string(owner.uid()),
          .controller = controller};
}

kube::OwnerReference blocking_owner_of(const kube::Object& owner) {
  kube::OwnerReference reference = owner_of(owner);
  reference.block_owner_deletion = true;
  return reference;
}

bool is_controlled_by(const kube::Object& object, const kube::Object& owner) {
  const auto controller = object.controller();
  return controller && controller->uid == owner.uid();
}

bool is_owned_by(const kube::Object& object, const kube::Resource& kind, std::string_view name) {
  return std::ranges::any_of(object.owner_references(), [&](const kube::OwnerReference& owner) {
    return owner.kind == kind.kind && owner.name == name;
  });
}

std::optional<kube::Object> owned_by(const kube::Object& object, const kube::Object& owner) {
  for (const kube::OwnerReference& known : object.owner_references())
    if (known.uid == owner.uid()) return std::nullopt;
  kube::Object made = object;
  made.add_owner_reference(owner_of(owner, false));
  return made;
}

}  // namespace liqo::core
