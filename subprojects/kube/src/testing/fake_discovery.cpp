// Discovery on the fake API server.
#include <algorithm>

#include "fake_request.hpp"

namespace kube::testing {

namespace {

json::object version_entry(const FakeKind& kind) {
  return {{"groupVersion", kind.api_version()}, {"version", kind.version}};
}

json::object resource_entry(const FakeKind& kind, std::string_view subresource,
                            std::initializer_list<const char*> may) {
  return {{"name", kind.plural + std::string(subresource)},
          {"singularName", ""},
          {"namespaced", kind.namespaced},
          {"kind", kind.kind},
          {"verbs", json::array(may.begin(), may.end())}};
}

}  // namespace

std::optional<json::object> discover(FakeStore& store, std::string_view path) {
  constexpr std::string_view root = "/apis/";
  if (!path.starts_with(root)) return std::nullopt;
  path.remove_prefix(root.size());
  json::array versions, resources;
  for (const auto& [name, table] : store.tables()) {
    const FakeKind& kind = table.kind;
    if (!table.is_served || kind.group.empty()) continue;
    if (kind.group == path) {
      json::value entry = version_entry(kind);
      if (std::ranges::find(versions, entry) == versions.end()) versions.push_back(std::move(entry));
    }
    if (kind.api_version() != path) continue;
    resources.push_back(resource_entry(kind, "", {"create", "delete", "get", "list", "patch", "update", "watch"}));
    if (kind.status_subresource) resources.push_back(resource_entry(kind, "/status", {"get", "patch", "update"}));
  }
  if (!versions.empty()) {
    json::value preferred = versions.front();
    return json::object{{"kind", "APIGroup"},
                        {"apiVersion", "v1"},
                        {"name", path},
                        {"versions", std::move(versions)},
                        {"preferredVersion", std::move(preferred)}};
  }
  if (resources.empty()) return std::nullopt;
  return json::object{
      {"kind", "APIResourceList"}, {"apiVersion", "v1"}, {"groupVersion", path}, {"resources", std::move(resources)}};
}

}  // namespace kube::testing
