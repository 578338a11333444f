#include "controllers/peering/consumer_namesakes.hpp"

#include <utility>

#include "core/common/peer_names.hpp"
#include "core/peering/forge.hpp"
#include "core/peering/handshake.hpp"
#include "kube/client/list_all.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/tenant.hpp"

namespace liqo::controllers {

ConsumerNamesakes::ConsumerNamesakes(const kube::InformerHandle& cluster_bindings, Context context)
    : cluster_bindings_(cluster_bindings),
      context_(std::move(context)),
      consumer_namespaces_(
          context_.home.acquire({.resource = kube::resources::namespaces,
                                 .selection = {.label_selector = std::string(api::labels::remote_cluster_id)}})) {}

void ConsumerNamesakes::forget(std::string_view uid) {
  if (const auto known = reported_.find(uid); known != reported_.end()) reported_.erase(known);
}

asio::awaitable<kube::Result<bool>> ConsumerNamesakes::has_any(kube::Object tenant) {
  const api::Tenant view(tenant);
  const std::string peer(view.cluster_id());
  // A consumer that was once admitted keeps its name.
  const kube::ObjectKey wide{"", core::cluster_role_binding_name(core::remote_cluster_wide_role, peer)};
  if (core::was_admitted(view) || cluster_bindings_->find(wide)) co_return false;
  KUBE_CO_TRY(namesake, co_await find(peer));
  if (namesake.empty()) co_return false;
  // The Event does not name the binding: peering users may read it.
  context_.events.warning(
      tenant, api::kinds::tenants, "ClusterIDTaken",
      "in this cluster a role binding names a user or group " + peer +
          " already, and the consumer would inherit its rights: rename either, or, if the binding is meant for "
          "this consumer, give it the label liqo.io/remote-cluster-id=" +
          peer + " (the log of liqod says which it is)");
  report(tenant, std::move(namesake));
  co_return true;
}

asio::awaitable<kube::Result<std::string>> ConsumerNamesakes::find(std::string consumer) {
  for (const kube::Resource& kind : {api::kinds::cluster_role_bindings, api::kinds::role_bindings}) {
    std::string namesake;
    KUBE_CO_TRYV(co_await kube::list_all(context_.home.api(), {.resource = kind, .ns = {}}, {},
                                         [&](const kube::Object& binding) {
                                           if (!core::is_for_namesake(binding, consumer)) return true;
                                           const auto ns = consumer_namespaces_->find({"", std::string(binding.ns())});
                                           if (ns && ns->label(api::labels::remote_cluster_id) == consumer) return true;
                                           namesake = std::string(kind.kind) + " " + binding.key().text();
                                           return false;
                                         }),
                 "looking whether the consumer's name is free");
    if (!namesake.empty()) co_return namesake;
  }
  co_return std::string();
}

void ConsumerNamesakes::report(const kube::Object& tenant, std::string binding) {
  std::string& reported = reported_[std::string(tenant.uid())];
  if (reported == binding) return;
  reported = std::move(binding);
  log_.warn("the consumer's ID is the name of somebody in this cluster",
            {{"tenant", tenant.key()}, {"cluster", api::Tenant(tenant).cluster_id()}, {"binding", reported}});
}

}  // namespace liqo::controllers
