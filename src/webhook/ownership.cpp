#include "liqo/webhook/ownership.hpp"

#include <algorithm>

namespace liqo::webhook {

bool is_owned_by(const kube::Object& object, const kube::Resource& kind, std::string_view name) {
  return std::ranges::any_of(object.owner_references(), [&](const kube::OwnerReference& owner) {
    return owner.kind == kind.kind && owner.name == name;
  });
}

std::optional<kube::Object> owned_by(const kube::Object& object, const kube::Object& owner,
                                     const kube::Resource& kind) {
  for (const kube::OwnerReference& known : object.owner_references())
    if (known.uid == owner.uid()) return std::nullopt;
  kube::Object made = object;
  made.add_owner_reference({.api_version = kind.api_version(),
                            .kind = std::string(kind.kind),
                            .name = std::string(owner.name()),
                            .uid = std::string(owner.uid())});
  return made;
}

}  // namespace liqo::webhook
