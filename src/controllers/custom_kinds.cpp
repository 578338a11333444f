#include "liqo/controllers/custom_kinds.hpp"

#include <algorithm>

#include "liqo/core/quoted.hpp"

namespace liqo::controllers {
namespace {

namespace json = kube::json;
using namespace std::chrono_literals;

constexpr kube::Duration patience = 10s;
/// Of a group no more are looked at.
constexpr std::size_t max_versions = 16;
/// Between two looks: while something is missing, and while nothing is.
constexpr kube::Duration missing_pause = 10s, found_pause = 5min;

std::string joined(const std::vector<std::string>& versions) {
  std::string out;
  for (const std::string& version : versions)
    out += (out.empty() ? "" : ", ") + std::string(core::cut_text(version, 63));
  return out;
}

}  // namespace

const reflection::ServedResource* CustomKinds::Served::find(std::string_view version) const {
  const auto found = std::ranges::find(versions, version);
  return found == versions.end() ? nullptr : &by_version[std::size_t(found - versions.begin())];
}

CustomKinds::CustomKinds(kube::Api& provider, Context context, std::function<std::string()> twin,
                         std::function<void()> changed)
    : provider_(provider),
      context_(context),
      twin_(std::move(twin)),
      changed_(std::move(changed)),
      log_(kube::Log("custom-resources").with("cluster", provider.cluster())) {}

asio::awaitable<void> CustomKinds::run() {
  while (!context_.settings.custom_resources.empty()) {
    bool is_complete = true;
    for (const reflection::CustomResource& resource : context_.settings.custom_resources) {
      auto found = co_await look(resource);
      is_complete = is_complete && found && found->trouble.empty();
      if (!found) continue;
      const auto [known, is_new] = findings_.try_emplace(resource.name());
      if (!is_new && known->second == *found) continue;
      if (found->trouble.empty())
        log_.info("custom resource is served by both clusters",
                  {{"resource", resource.name()}, {"version", std::string(found->kind->resource.version)}});
      else
        log_.warn("custom resource is not reflected as it was meant",
                  {{"resource", resource.name()}, {"reason", found->trouble}});
      known->second = std::move(*found);
      changed_();
    }
    co_await context_.clock.sleep(is_complete ? found_pause : missing_pause);
  }
}

asio::awaitable<std::optional<json::value>> CustomKinds::read(kube::Api& api, std::string path) {
  const auto text = co_await api.raw(std::move(path), patience);
  if (!text && text.error().is_not_found()) co_return json::value(json::object());
  if (!text) co_return std::nullopt;
  auto document = kube::parse_json(*text);
  if (!document) co_return std::nullopt;
  co_return std::move(*document);
}

asio::awaitable<std::optional<CustomKinds::Served>> CustomKinds::served(kube::Api& api,
                                                                        reflection::CustomResource resource) {
  const std::string path = "/apis/" + resource.group;
  const auto group = co_await read(api, path);
  if (!group) co_return std::nullopt;
  Served served;
  // The versions of a group are those of all of its kinds.
  std::vector<std::string> versions = reflection::served_versions(*group);
  if (versions.size() > max_versions) versions.resize(max_versions);
  for (const std::string& version : versions) {
    const auto resources = co_await read(api, path + "/" + kube::percent_encode(version));
    if (!resources) co_return std::nullopt;
    if (auto found = reflection::find_served(*resources, resource.plural)) {
      served.versions.push_back(version);
      served.by_version.push_back(std::move(*found));
    }
  }
  co_return served;
}

asio::awaitable<std::optional<CustomKinds::Finding>> CustomKinds::look(reflection::CustomResource resource) {
  kube::Api& home = context_.home.api();
  const auto here = co_await served(home, resource);
  const auto there = co_await served(provider_, resource);
  if (!here || !there) co_return std::nullopt;
  const std::string peer = "cluster " + provider_.cluster();
  if (here->versions.empty()) co_return Finding{.trouble = "this cluster has no definition of it"};
  if (there->versions.empty()) co_return Finding{.trouble = peer + " has no definition of it"};
  const std::string version(reflection::common_version(here->versions, there->versions));
  if (version.empty())
    co_return Finding{.trouble = "there is no version that both clusters serve: this one has " +
                                 joined(here->versions) + ", and " + peer + " has " + joined(there->versions)};
  const reflection::ServedResource *local = here->find(version), *remote = there->find(version);
  if (!local->namespaced || !remote->namespaced)
    co_return Finding{.trouble = "it is not of a namespace, and only what is of one can be reflected"};
  if (local->kind != remote->kind)
    co_return Finding{.trouble = "it is of kind " + local->kind + " here and " + core::in_quotes(remote->kind, 63) +
                                 " in " + peer};
  const kube::Resource probed{resource.group, version, resource.plural, local->kind};
  const kube::ListOptions one{.limit = 1, .metadata_only = true};
  if (const auto listed = co_await home.list(probed, "", one); !listed && listed.error().is_forbidden())
    co_return Finding{.trouble =
                          "liqod has no right to it in this cluster: name it in offloading.reflection.custom "
                          "of the chart's values"};
  if (const std::string twin = twin_(); !twin.empty())
    if (const auto listed = co_await provider_.list(probed, twin, one); !listed && listed.error().is_forbidden())
      co_return Finding{.trouble = peer + " gives no right to it: its administrator names a ClusterRole in " +
                                   "clusterRoles of this cluster's policy there"};
  Finding found{.kind = &reflection::custom_kind(resource, version, local->kind), .trouble = {}};
  if (resource.brings_status && !local->has_status)
    found.trouble = "its definition here has no status subresource, so that no status comes home";
  co_return found;
}

}  // namespace liqo::controllers
