// Finds where the data of claims is, or is to be: in this cluster, or in the twin namespace at a provider.
// Tested by test/unit/controllers/storage/storage_provisioner_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "controllers/common/context.hpp"
#include "controllers/links/provider_link.hpp"
#include "core/common/forging_context.hpp"
#include "core/storage/volume.hpp"
#include "kube/client/api.hpp"

namespace liqo::controllers {

/// A provider as one virtual node reaches it.
struct ProviderReach {
  std::shared_ptr<ProviderLink> link;
  core::ForgingContext forging;
};
/// Finds the provider of a virtual node; nothing if there is no session.
using FindReach = std::function<std::optional<ProviderReach>(const kube::ObjectKey& virtual_node)>;

/// The place where the claim behind another one is, or is to be. It keeps the link to its provider alive.
struct StorageSite {
  std::string cluster;  ///< the provider; "" = this cluster
  std::string where;    ///< the place, for sentences
  kube::ObjectKey key;
  std::optional<kube::Object> virtual_node;  ///< of a provider
  std::optional<ProviderReach> reach;
  std::unique_ptr<kube::Api> provider;  ///< over `reach`
};

/// Finds the sites of claims, by their annotations, their volumes, the virtual nodes and the twins. One thread.
class StorageSites {
 public:
  /// `changed`: called when a virtual node or a twin has changed; must not suspend.
  StorageSites(FindReach reach, Context context, const std::function<void()>& changed);

  bool has_synced() const { return virtual_nodes_->has_synced() && namespace_maps_->has_synced(); }

  /// The site of a claim that has no volume yet. Failure: why it has no site, as a sentence.
  asio::awaitable<kube::Result<StorageSite>> site_of(kube::Object claim) const;
  /// The site that is recorded on a volume; if the provider has no virtual node, the site has neither that nor a link.
  /// Failure: why the site cannot be reached, as a sentence.
  kube::Result<StorageSite> site_of(const core::storage::Backing& backing) const;
  /// The site that the claim behind this one would have in that cluster, "" = this one. Failure: why it cannot be
  /// there.
  kube::Result<StorageSite> site_in(const kube::Object& claim, std::string_view cluster) const;

  /// The virtual node that the scheduler has chosen for the claim; nothing if it has chosen none, or a machine.
  std::optional<kube::Object> selected_virtual_node(const kube::Object& claim) const;
  /// Whether the namespace has a twin in the cluster of a virtual node.
  bool has_twin(std::string_view cluster, std::string_view ns) const;
  /// Whether the failure means that the claim of the site, behind one of that namespace, does not exist.
  bool is_gone(const kube::Failure& failure, const StorageSite& site, std::string_view ns) const;

  /// The API server of the site. Valid as long as the site.
  kube::Api& api_of(const StorageSite& site) const { return site.provider ? *site.provider : context_.home.api(); }
  /// The ID of the site's cluster, for logs.
  std::string_view cluster_of(const StorageSite& site) const {
    return site.cluster.empty() ? context_.settings.cluster_id : site.cluster;
  }

 private:
  kube::Result<void> connect(StorageSite& site) const;
  std::optional<kube::Object> virtual_node(const std::function<bool(const kube::Object&)>& is_it) const;
  std::string twin_of(const kube::Object& virtual_node, std::string_view ns) const;

  Context context_;
  FindReach reach_;
  kube::InformerHandle virtual_nodes_, namespace_maps_;
};

}  // namespace liqo::controllers
