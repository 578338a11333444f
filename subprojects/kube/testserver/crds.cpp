#include "crds.hpp"

#include "kube/wire/yaml.hpp"

namespace kube::testserver {

Result<std::vector<testing::FakeKind>> read_crds(std::string_view yaml) {
  KUBE_TRY(documents, wire::read_yaml(yaml));
  std::vector<testing::FakeKind> kinds;
  for (const json::value& document : documents) {
    if (string_at(document, {"kind"}) != "CustomResourceDefinition") continue;
    const json::object& spec = object_at(document, {"spec"});
    for (const json::value& version : array_at(spec, {"versions"})) {
      if (!bool_at(version, {"served"})) continue;
      kinds.push_back({.group = std::string(string_at(spec, {"group"})),
                       .version = std::string(string_at(version, {"name"})),
                       .plural = std::string(string_at(spec, {"names", "plural"})),
                       .kind = std::string(string_at(spec, {"names", "kind"})),
                       .namespaced = string_at(spec, {"scope"}) != "Cluster",
                       .status_subresource = find(version, {"subresources", "status"}) != nullptr,
                       .generation = true,
                       .custom = true});
      const testing::FakeKind& made = kinds.back();
      if (made.group.empty() || made.version.empty() || made.plural.empty() || made.kind.empty())
        return fail(Errc::invalid_input, "the CustomResourceDefinition " +
                                             std::string(string_at(document, {"metadata", "name"})) +
                                             " lacks a group, a version or a name");
    }
  }
  if (kinds.empty()) return fail(Errc::invalid_input, "no CustomResourceDefinition serves a version");
  return kinds;
}

}  // namespace kube::testserver
