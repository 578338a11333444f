#include "core/admission/owners.hpp"

#include <algorithm>

#include "core/admission/tenant_rules.hpp"
#include "kube/base/printable.hpp"

namespace liqo::core::admission {
namespace {

constexpr std::size_t max_word = 63;

const json::array& owners_of(const kube::Object& object) {
  return kube::array_at(object.tree(), {"metadata", "ownerReferences"});
}

bool is_added(const json::value& owner, const Request& request) {
  const json::array& before = owners_of(request.old_object);
  return std::ranges::find(before, owner) == before.end();
}

/// What is wrong with an owner, "" if nothing is.
std::string refuse_owner(const json::value& owner, const Request& request, const kube::Object* live) {
  const std::string_view kind = kube::string_at(owner, {"kind"}), name = kube::string_at(owner, {"name"});
  const std::string named = kube::in_quotes(kind, max_word) + " " + kube::in_quotes(name, max_word);
  if (kube::string_at(owner, {"apiVersion"}) != "v1" || kind != kube::resources::namespaces.kind || name != request.ns)
    return "name " + named + ", and an object of a consumer can have its own Namespace alone as its owner";
  if (kube::bool_at(owner, {"controller"}) || kube::bool_at(owner, {"blockOwnerDeletion"}))
    return "name " + named + " with controller or blockOwnerDeletion, which no object of a consumer can have";
  if (!live || live->is_deleting() || live->uid() != kube::string_at(owner, {"uid"}))
    return "name a Namespace " + kube::in_quotes(name, max_word) +
           " of another UID than the present one, or one that is being deleted; read the Namespace again";
  return {};
}

}  // namespace

bool adds_owner(const Request& request, std::string_view consumer) {
  if (!request.writes_object() || owners_of(request.object).empty() || !is_of_consumer(request.user, consumer))
    return false;
  return std::ranges::any_of(owners_of(request.object),
                             [&request](const json::value& owner) { return is_added(owner, request); });
}

Answer check_owners(const Request& request, std::string_view consumer, const kube::Object* live) {
  if (!adds_owner(request, consumer)) return Answer::allow();
  for (const json::value& owner : owners_of(request.object)) {
    if (!is_added(owner, request)) continue;
    if (const std::string problem = refuse_owner(owner, request, live); !problem.empty())
      return Answer::deny("the metadata.ownerReferences of " + known_as(request, request.plural) + " " + problem);
  }
  return Answer::allow();
}

}  // namespace liqo::core::admission
