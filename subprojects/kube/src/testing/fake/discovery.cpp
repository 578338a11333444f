// Discovery on the fake API server.
#include <algorithm>
#include <map>

#include "kube/base/url.hpp"
#include "request.hpp"

namespace kube::testing {

namespace {

/// What people type for the built-in kinds.
constexpr std::pair<std::string_view, std::string_view> short_names[] = {
    {"configmaps", "cm"}, {"deployments", "deploy"}, {"events", "ev"},     {"ingresses", "ing"},
    {"namespaces", "ns"}, {"nodes", "no"},           {"pods", "po"},       {"persistentvolumeclaims", "pvc"},
    {"services", "svc"},  {"serviceaccounts", "sa"}, {"replicasets", "rs"}};

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

/// The resources that are served of one group and version ("v1" for the core group); nothing if there are none.
std::optional<json::object> resources_of(FakeStore& store, std::string_view group_version) {
  json::array resources;
  for (const auto& [name, table] : store.tables()) {
    const FakeKind& kind = table.kind;
    if (!table.is_served || kind.api_version() != group_version) continue;
    resources.push_back(resource_entry(kind, "", {"create", "delete", "get", "list", "patch", "update", "watch"}));
    if (const auto found =
            std::ranges::find(short_names, kind.plural, &std::pair<std::string_view, std::string_view>::first);
        !kind.custom && found != std::end(short_names))
      resources.back().get_object()["shortNames"] = json::array{found->second};
    if (kind.status_subresource) resources.push_back(resource_entry(kind, "/status", {"get", "patch", "update"}));
  }
  if (resources.empty()) return std::nullopt;
  return json::object{{"kind", "APIResourceList"},
                      {"apiVersion", "v1"},
                      {"groupVersion", group_version},
                      {"resources", std::move(resources)}};
}

/// The groups but the core one, with their versions, by name.
std::map<std::string, json::array> groups_of(FakeStore& store) {
  std::map<std::string, json::array> groups;
  for (const auto& [name, table] : store.tables()) {
    const FakeKind& kind = table.kind;
    if (!table.is_served || kind.group.empty()) continue;
    json::array& versions = groups[kind.group];
    json::value entry = version_entry(kind);
    if (std::ranges::find(versions, entry) == versions.end()) versions.push_back(std::move(entry));
  }
  return groups;
}

json::object group_entry(const std::string& name, const json::array& versions) {
  return {{"name", name}, {"versions", versions}, {"preferredVersion", versions.front()}};
}

}  // namespace

std::optional<json::object> discover(FakeStore& store, std::string_view target) {
  const std::string_view path = path_of(target);
  if (path == "/api")
    return json::object{
        {"kind", "APIVersions"}, {"versions", json::array{"v1"}}, {"serverAddressByClientCIDRs", json::array()}};
  if (path == "/api/v1") return resources_of(store, "v1");
  const auto groups = groups_of(store);
  if (path == "/apis") {
    json::array entries;
    for (const auto& [name, versions] : groups) entries.push_back(group_entry(name, versions));
    return json::object{{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(entries)}};
  }
  constexpr std::string_view root = "/apis/";
  if (!path.starts_with(root)) return std::nullopt;
  const std::string name(path.substr(root.size()));
  const auto group = groups.find(name);
  if (group == groups.end()) return name.contains('/') ? resources_of(store, name) : std::nullopt;
  json::object answer = group_entry(name, group->second);
  answer["kind"] = "APIGroup";
  answer["apiVersion"] = "v1";
  return answer;
}

}  // namespace kube::testing
