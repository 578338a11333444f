#include "controllers/reflection/custom_kinds.hpp"

#include <algorithm>
#include <span>

#include "kube/base/json_arena.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "kube/base/url.hpp"

namespace liqo::controllers {
namespace {

namespace json = kube::json;
using namespace std::chrono_literals;

constexpr kube::Duration patience = 10s;
/// A larger discovery document is rejected: each version of a group has some hundred bytes for each kind.
constexpr std::size_t max_document = 1 << 20;
/// The number of versions that are named, and of twins in which rights are checked.
constexpr std::size_t max_named = 4, max_asked = 10;
/// The pause between two looks: while a kind is missing, while a part of it is missing, and while nothing is missing.
constexpr kube::Duration missing_pause = 10s, partial_pause = 30s, found_pause = 5min;

std::string joined(const std::vector<std::string>& versions) {
  const auto shown = [](const std::string& version) { return kube::one_line(version, 63); };
  return kube::join(versions | std::views::take(max_named) | std::views::transform(shown), ", ");
}

}  // namespace

const core::reflection::ServedResource* CustomKinds::Served::find(std::string_view version) const {
  const auto found = std::ranges::find(versions, version);
  return found == versions.end() ? nullptr : &by_version[std::size_t(found - versions.begin())];
}

CustomKinds::CustomKinds(kube::Api& provider, Context context, std::function<std::vector<std::string>()> twins,
                         std::function<void()> changed)
    : provider_(provider),
      context_(context),
      twins_(std::move(twins)),
      changed_(std::move(changed)),
      log_(kube::Log("custom-resources").with("cluster", provider.cluster())) {}

asio::awaitable<void> CustomKinds::run() {
  while (!context_.settings.reflection.custom_resources.empty()) {
    bool has_changed = false;
    for (const core::reflection::CustomResource& resource : context_.settings.reflection.custom_resources) {
      if (context_.clock.now() < next_[resource.name()]) continue;
      auto found = co_await look(resource);
      const bool is_well = found && found->trouble.empty() && found->is_sure;
      const bool is_there = found && found->kind && found->is_sure;
      next_[resource.name()] = context_.clock.now() + (is_well    ? found_pause
                                                       : is_there ? partial_pause
                                                                  : missing_pause);
      if (!found) continue;
      const auto [known, is_new] = findings_.try_emplace(resource.name());
      if (!is_new && known->second == *found) continue;
      has_changed = true;
      if (!found->trouble.empty())
        log_.warn("custom resource is not reflected as it was meant",
                  {{"resource", resource.name()}, {"reason", found->trouble}});
      else
        log_.info("custom resource is served by both clusters",
                  {{"resource", resource.name()}, {"version", std::string(found->kind->resource.version)}});
      known->second = std::move(*found);
    }
    if (has_changed) changed_();
    co_await context_.clock.sleep(missing_pause);
  }
}

core::CustomState CustomKinds::state() const {
  std::vector<std::string> troubles, unknown;
  for (const core::reflection::CustomResource& resource : context_.settings.reflection.custom_resources) {
    const std::string name = resource.name();
    const auto found = findings_.find(name);
    if (found == findings_.end() || (found->second.trouble.empty() && !found->second.is_sure))
      unknown.push_back(name);
    else if (!found->second.trouble.empty())
      troubles.push_back(name + ": " + found->second.trouble);
  }
  using Reflected = core::CustomState::Reflected;
  if (!troubles.empty())
    return {Reflected::no,
            "not all custom resources are reflected as they were meant to be: " + kube::join(troubles, "; ")};
  if (!unknown.empty())
    return {Reflected::unknown, "cluster " + provider_.cluster() + " has not said yet whether it takes " +
                                    kube::join(unknown, ", ") + ": it does not answer, or has no twin of a namespace"};
  return {Reflected::yes, "all custom resources that are configured are reflected"};
}

asio::awaitable<std::optional<json::value>> CustomKinds::read(kube::Api& api, std::string path) {
  const auto text = co_await api.raw(std::move(path), patience);
  if (!text && text.error().is_not_found()) co_return json::value(json::object());
  if (!text) co_return std::nullopt;
  if (text->size() > max_document) co_return std::nullopt;
  auto document = kube::parse_json_arena(*text, kube::max_object_depth, api.account());
  if (!document) co_return std::nullopt;
  co_return std::move(*document);
}

asio::awaitable<std::optional<CustomKinds::Served>> CustomKinds::served(kube::Api& api,
                                                                        core::reflection::CustomResource resource) {
  const std::string path = "/apis/" + resource.group;
  const auto group = co_await read(api, path);
  if (!group) co_return std::nullopt;
  Served served;
  // The versions of a group are those of all of its kinds.
  for (const std::string& version : core::reflection::served_versions(*group)) {
    const auto resources = co_await read(api, path + "/" + kube::percent_encode(version));
    if (!resources) co_return std::nullopt;
    if (auto found = core::reflection::find_served(*resources, resource.plural)) {
      served.versions.push_back(version);
      served.by_version.push_back(std::move(*found));
    }
  }
  co_return served;
}

asio::awaitable<std::optional<CustomKinds::Finding>> CustomKinds::look(core::reflection::CustomResource resource) {
  kube::Api& home = context_.home.api();
  const auto here = co_await served(home, resource);
  const auto there = co_await served(provider_, resource);
  if (!here || !there) co_return std::nullopt;
  const std::string peer = "cluster " + provider_.cluster();
  if (here->versions.empty()) co_return Finding{.trouble = "this cluster has no definition of it"};
  if (there->versions.empty()) co_return Finding{.trouble = peer + " has no definition of it"};
  const std::string version(core::reflection::common_version(here->versions, there->versions));
  if (version.empty())
    co_return Finding{.trouble = "there is no version that both clusters serve: this one has " +
                                 joined(here->versions) + ", and " + peer + " has " + joined(there->versions)};
  const core::reflection::ServedResource *local = here->find(version), *remote = there->find(version);
  if (!local->namespaced || !remote->namespaced)
    co_return Finding{.trouble = "it is cluster-scoped, and only namespaced kinds are reflected"};
  if (local->kind != remote->kind)
    co_return Finding{.trouble = "it is of kind " + local->kind + " here and " + kube::in_quotes(remote->kind, 63) +
                                 " in " + peer};
  const kube::Resource probed{resource.group, version, resource.plural, local->kind};
  const kube::ListOptions one{.limit = 1, .metadata_only = true};
  if (const auto listed = co_await home.list(probed, "", one); !listed && listed.error().is_forbidden())
    co_return Finding{.trouble =
                          "liqod has no right to it in this cluster: name it in offloading.reflection.custom "
                          "of the chart's values"};
  core::reflection::CustomResource served = resource;
  served.brings_status = resource.brings_status && local->has_status;
  Finding found{.kind = &core::reflection::custom_kind(served, version, local->kind), .trouble = {}};
  const std::vector<std::string> twins = twins_();
  found.is_sure = false;
  for (const std::string& twin : std::span(twins).first(std::min(twins.size(), max_asked))) {
    const auto listed = co_await provider_.list(probed, twin, one);
    found.is_sure = found.is_sure || listed || listed.error().is_forbidden();
    if (listed || !listed.error().is_forbidden()) continue;
    found.is_permitted = false;
    found.trouble = peer + " gives no right to it in namespace " + twin +
                    ": its administrator names a ClusterRole in clusterRoles of this cluster's policy there";
    co_return found;
  }
  if (resource.brings_status && !local->has_status)
    found.trouble = "its definition here has no status subresource, so that no status comes home";
  co_return found;
}

}  // namespace liqo::controllers
