#include "core/common/bindings.hpp"

#include "liqo/api/kinds.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace kinds = api::kinds;

json::object make_subject(std::string_view kind, std::string_view name) {
  return {{"apiGroup", kinds::cluster_roles.group}, {"kind", kind}, {"name", name}};
}

json::object make_role_ref(std::string_view role) {
  return {{"apiGroup", kinds::cluster_roles.group}, {"kind", kinds::cluster_roles.kind}, {"name", role}};
}

bool has_same_subjects(const kube::Object& live, const kube::Object& wanted) {
  const json::array& have = kube::array_at(live.tree(), {"subjects"});
  const json::array& want = kube::array_at(wanted.tree(), {"subjects"});
  if (have.size() != want.size()) return false;
  for (std::size_t i = 0; i < have.size(); ++i)
    for (const char* field : {"kind", "name", "namespace"})
      if (kube::string_at(have[i], {field}) != kube::string_at(want[i], {field})) return false;
  return true;
}

bool has_same_role(const kube::Object& live, const kube::Object& wanted) {
  for (const char* field : {"kind", "name"})
    if (kube::string_at(live.tree(), {"roleRef", field}) != kube::string_at(wanted.tree(), {"roleRef", field}))
      return false;
  return true;
}

}  // namespace liqo::core
