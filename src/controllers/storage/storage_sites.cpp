#include "controllers/storage/storage_sites.hpp"

#include "controllers/common/older_namesake.hpp"
#include "controllers/links/provider_api.hpp"
#include "core/storage/volume_plan.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/namespace_map.hpp"
#include "liqo/api/virtual_node.hpp"

namespace liqo::controllers {
namespace {

namespace kinds = api::kinds;
namespace storage = core::storage;

std::string provider_words(std::string_view cluster) { return "cluster " + std::string(cluster); }

}  // namespace

StorageSites::StorageSites(FindReach reach, Context context, const std::function<void()>& changed)
    : context_(context),
      reach_(std::move(reach)),
      virtual_nodes_(context.home.acquire({.resource = kinds::virtual_nodes})),
      namespace_maps_(context.home.acquire({.resource = kinds::namespace_maps})) {
  index_by_node_name(*virtual_nodes_);
  for (kube::InformerHandle* source : {&virtual_nodes_, &namespace_maps_})
    source->subscribe([changed](const kube::Change&) { changed(); });
}

std::optional<kube::Object> StorageSites::virtual_node(const std::function<bool(const kube::Object&)>& is_it) const {
  std::optional<kube::Object> found;
  for (kube::Object& node : virtual_nodes_->objects()) {
    if (!is_it(node)) continue;
    // Any virtual node that reaches the provider will do.
    if (reach_(node.key())) return std::move(node);
    if (!found) found = std::move(node);
  }
  return found;
}

std::string StorageSites::twin_of(const kube::Object& virtual_node, std::string_view ns) const {
  const std::string_view cluster = api::VirtualNode(virtual_node).cluster_id();
  for (const kube::Object& map : namespace_maps_->objects_in(virtual_node.ns())) {
    if (!api::NamespaceMap(map).is_outgoing_to(cluster)) continue;
    for (const api::MappedNamespace& mapped : api::NamespaceMap(map).current_mapping())
      if (mapped.local == ns && mapped.is_accepted()) return mapped.remote;
  }
  return {};
}

kube::Result<void> StorageSites::connect(StorageSite& site) const {
  site.reach = reach_(site.virtual_node->key());
  if (!site.reach) return kube::fail(kube::Errc::missing, "there is no session with " + site.where);
  site.provider = std::make_unique<kube::Api>(make_provider_api(site.reach->link->transport(), site.cluster, context_));
  return {};
}

std::optional<kube::Object> StorageSites::selected_virtual_node(const kube::Object& claim) const {
  const std::string_view selected = claim.annotation(api::annotations::selected_node);
  return virtual_node(
      [&](const kube::Object& node) { return node.name() == selected && !older_namesake(*virtual_nodes_, node); });
}

kube::Result<StorageSite> StorageSites::site_in(const kube::Object& claim, std::string_view cluster) const {
  StorageSite site;
  if (cluster.empty()) {
    site.where = storage::this_cluster;
    site.key = {context_.settings.storage.storage_namespace, std::string(claim.uid())};
    // A claim that has taken the volume of another one has a backing claim of another name.
    const std::string_view noted = claim.annotation(api::annotations::backing_claim);
    const std::string begin = site.key.ns + "/";
    if (storage::had_volume(claim) && noted.starts_with(begin)) site.key.name = noted.substr(begin.size());
    return site;
  }
  site.cluster = cluster;
  site.where = provider_words(cluster);
  site.virtual_node = selected_virtual_node(claim);
  const auto is_there = [&](const kube::Object& node) { return api::VirtualNode(node).cluster_id() == cluster; };
  if (!site.virtual_node || !is_there(*site.virtual_node)) site.virtual_node = virtual_node(is_there);
  if (!site.virtual_node)
    return kube::fail(kube::Errc::missing, "the volume was begun in " + site.where +
                                               ", of which there is no virtual node any more: delete the claim, or " +
                                               "make one");
  site.key = {twin_of(*site.virtual_node, claim.ns()), std::string(storage::name_at_provider(claim))};
  if (site.key.ns.empty())
    return kube::fail(kube::Errc::missing,
                      "namespace " + std::string(claim.ns()) + " has no twin in " + site.where + ", or not yet");
  KUBE_TRYV(connect(site));
  return site;
}

asio::awaitable<kube::Result<StorageSite>> StorageSites::site_of(kube::Object claim) const {
  const auto node = selected_virtual_node(claim);
  const std::string selected(node ? api::VirtualNode(*node).cluster_id() : std::string_view());
  const std::string begun(claim.annotation(api::annotations::backing_cluster));
  if (!claim.has_annotation(api::annotations::backing_claim) || begun == selected) co_return site_in(claim, selected);
  // Users may write either annotation. A claim behind that was begun stays where it is; if there is none, the
  // scheduler's choice counts.
  auto site = site_in(claim, begun);
  if (!site || storage::had_volume(claim)) co_return site;
  auto live = co_await api_of(*site).get(kinds::claims, site->key);
  if (live ? storage::is_backing_of(*live, claim.uid()) : !is_gone(live.error(), *site, claim.ns())) co_return site;
  co_return site_in(claim, selected);
}

kube::Result<StorageSite> StorageSites::site_of(const storage::Backing& backing) const {
  StorageSite site{
      .cluster = backing.cluster,
      .where = backing.cluster.empty() ? std::string(storage::this_cluster) : provider_words(backing.cluster),
      .key = backing.key,
      .virtual_node = {},
      .reach = {},
      .provider = {}};
  if (backing.cluster.empty() && backing.key.ns != context_.settings.storage.storage_namespace)
    return kube::fail(kube::Errc::invalid_input, "the PersistentVolume names namespace " + backing.key.ns +
                                                     ", but liqod keeps data only in namespace " +
                                                     context_.settings.storage.storage_namespace);
  if (backing.cluster.empty()) return site;
  site.virtual_node =
      virtual_node([&](const kube::Object& node) { return api::VirtualNode(node).cluster_id() == backing.cluster; });
  if (!site.virtual_node) return site;
  KUBE_TRYV(connect(site));
  return site;
}

bool StorageSites::has_twin(std::string_view cluster, std::string_view ns) const {
  return virtual_node([&](const kube::Object& node) {
           return api::VirtualNode(node).cluster_id() == cluster && !twin_of(node, ns).empty();
         })
      .has_value();
}

bool StorageSites::is_gone(const kube::Failure& failure, const StorageSite& site, std::string_view ns) const {
  if (failure.is_not_found()) return true;
  // Our rights in a twin go with it: the provider then answers 403 instead of 404.
  return failure.is_forbidden() && site.virtual_node && twin_of(*site.virtual_node, ns) != site.key.ns;
}

}  // namespace liqo::controllers
