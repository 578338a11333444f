#include "liqo/core/owner.hpp"

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

}  // namespace liqo::core
