#include "controllers/nodes/namesakes.hpp"

#include <set>

#include "controllers/common/older_namesake.hpp"
#include "controllers/links/provider_api.hpp"
#include "controllers/nodes/virtual_node_condition.hpp"
#include "core/common/meta.hpp"
#include "core/common/names.hpp"
#include "core/offloading/order.hpp"
#include "core/offloading/service_account_token.hpp"
#include "kube/async/finally.hpp"
#include "kube/runtime/finalizer.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/namespace_map.hpp"
#include "liqo/api/virtual_node.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using api::VirtualNode;
using kube::Outcome;

/// The pause between two looks at pods that end, and while a session ends.
constexpr kube::Duration ending_pause = 2s, session_pause = 200ms;
/// One look reads every twin of the provider, of which there may be thousands.
constexpr kube::Duration look_guard = 10min;

bool is_without_hope(const kube::Failure& failure) {
  return failure.is_permanent() || failure.http_code() == 401 || failure.code() == kube::Errc::missing ||
         failure.code() == kube::Errc::invalid_input;
}

}  // namespace

NamesakeController::NamesakeController(ConnectProvider connect, const ProviderSessions& sessions,
                                       const PeerNotices& notices, Context context)
    : connect_(std::move(connect)),
      sessions_(sessions),
      notices_(notices),
      context_(context),
      virtual_nodes_(context.home.acquire({.resource = api::kinds::virtual_nodes})),
      namespace_maps_(context.home.acquire({.resource = api::kinds::namespace_maps})),
      controller_(
          context,
          {.name = "virtualnode_namesakes", .limits = {.workers = 16, .workers_per_group = 1}, .guard = look_guard},
          [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  index_by_node_name(*virtual_nodes_);
  controller_.reads(namespace_maps_);
  controller_.watch(virtual_nodes_, [this](const kube::ObjectKey& key) {
    if (!virtual_nodes_->store().contains(key)) ended_.erase(key);
    enqueue(key.name);
  });
}

void NamesakeController::enqueue(const std::string& name) {
  const auto keys = virtual_nodes_->store().keys(by_node_name, name);
  for (const kube::ObjectKey& key : keys) {
    // A VirtualNode without a namesake need not stand aside, unless it did until now.
    if (keys.size() < 2 && !ended_.contains(key)) continue;
    const auto node = virtual_nodes_->find(key);
    controller_.enqueue({node ? std::string(VirtualNode(*node).cluster_id()) : "", key});
  }
}

bool NamesakeController::stands_aside(const kube::ObjectKey& virtual_node) const {
  const auto object = virtual_nodes_->find(virtual_node);
  return object && older_namesake(*virtual_nodes_, *object);
}

asio::awaitable<Outcome> NamesakeController::reconcile(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  const auto object = virtual_nodes_->find(key);
  const auto older = object ? older_namesake(*virtual_nodes_, *object) : std::nullopt;
  if (!older) {
    ended_.erase(key);
    co_return Outcome::done();
  }
  if (object->is_deleting() && !object->has_finalizer(api::finalizers::virtual_node)) co_return Outcome::done();
  // Its session orders pods as long as there is one.
  if (sessions_.find(key)) co_return Outcome::again_after(session_pause);
  KUBE_CO_TRYV(co_await add_finalizer(context_.home.api(), *virtual_nodes_, *object, api::finalizers::virtual_node));

  const auto ended = ended_.find(key);
  const bool is_certain = ended != ended_.end() && ended->second.uid == object->uid() && ended->second.is_certain;
  kube::Result<std::size_t> left = 0;
  if (!is_certain && !notices_.is_lost(VirtualNode(*object).cluster_id())) left = co_await end_pods(*object, *older);
  if (!stands_aside(key)) {
    ended_.erase(key);
    co_return Outcome::done();
  }
  KUBE_CO_TRYV(co_await report(*object, *older, left));
  const auto latest = virtual_nodes_->find(key);
  if (!latest || latest->uid() != object->uid()) co_return Outcome::done();
  if (!left && !(latest->is_deleting() && is_without_hope(left.error())))
    co_return Outcome::retry(std::move(left.error()));
  if (left && *left > 0) co_return Outcome::again_after(ending_pause);
  co_return co_await conclude(*latest);
}

asio::awaitable<Outcome> NamesakeController::conclude(kube::Object virtual_node) {
  const kube::ObjectKey key = virtual_node.key();
  if (virtual_node.is_deleting()) {
    ended_.erase(key);
    KUBE_CO_TRYV(co_await remove_finalizer(context_.home.api(), *virtual_nodes_, std::move(virtual_node),
                                           api::finalizers::virtual_node));
    co_return Outcome::done();
  }
  Ended& ended = ended_[key];
  const kube::TimePoint now = context_.clock.now();
  if (ended.uid != virtual_node.uid()) ended = {.uid = std::string(virtual_node.uid()), .since = now};
  ended.is_certain = ended.is_certain || now - ended.since >= core::order_doubt;
  // A ShadowPod whose create was under way when its session ended may have been stored since.
  if (!ended.is_certain) co_return Outcome::again_after(core::order_doubt);
  co_return Outcome::done();
}

asio::awaitable<kube::Result<std::size_t>> NamesakeController::end_pods(kube::Object virtual_node, kube::Object older) {
  const std::string cluster(VirtualNode(virtual_node).cluster_id());
  // If both have the same provider, their pods are the same, and belong to the older one.
  if (cluster == VirtualNode(older).cluster_id()) co_return std::size_t{0};
  const kube::ObjectKey secret_key{std::string(virtual_node.ns()),
                                   std::string(VirtualNode(virtual_node).kubeconfig_secret())};
  if (secret_key.name.empty()) co_return kube::fail(kube::Errc::missing, "spec.kubeconfigSecretRef names no Secret");
  KUBE_CO_TRY(secret, co_await context_.home.api().get(kube::resources::secrets, secret_key),
              "reading Secret " + secret_key.text());
  KUBE_CO_TRY(made, connect_(cluster, secret), "Secret " + secret_key.text());
  const std::shared_ptr<ProviderLink> link = std::move(made);
  co_return co_await kube::async::finally(end_pods_over(link, std::move(virtual_node)), link->stop());
}

asio::awaitable<kube::Result<std::size_t>> NamesakeController::end_pods_over(std::shared_ptr<ProviderLink> link,
                                                                             kube::Object virtual_node) {
  const std::string cluster(VirtualNode(virtual_node).cluster_id());
  const core::ForgingContext forging{.clusters = {.local = context_.settings.cluster_id, .remote = cluster},
                                     .node_name = std::string(virtual_node.name())};
  kube::Api provider = make_provider_api(link->transport(), cluster, context_);
  std::set<std::string> twins;
  for (const kube::Object& map : namespace_maps_->objects_in(virtual_node.ns())) {
    if (!api::NamespaceMap(map).is_outgoing_to(cluster)) continue;
    for (const api::MappedNamespace& mapped : api::NamespaceMap(map).current_mapping())
      if (core::is_dns_label(mapped.remote)) twins.insert(mapped.remote);
  }
  std::size_t left = 0;
  for (const std::string& twin : twins) {
    KUBE_CO_TRY(pods, co_await end_in(provider, {api::kinds::shadow_pods, twin}, forging, virtual_node.key()));
    left += pods;
    // A pod that ends may still need its tokens.
    if (pods > 0) continue;
    KUBE_CO_TRYV(co_await end_in(provider, {kube::resources::secrets, twin}, forging, virtual_node.key()));
  }
  co_return left;
}

asio::awaitable<kube::Result<std::size_t>> NamesakeController::end_in(kube::Api& provider, kube::Collection twin,
                                                                      core::ForgingContext forging,
                                                                      kube::ObjectKey virtual_node) {
  std::vector<kube::Object> found;
  const bool are_secrets = twin.resource == kube::resources::secrets;
  auto listed = co_await kube::list_all(
      provider, twin,
      {.selection = {.label_selector = kube::label_is(api::labels::node_name, forging.node_name)},
       .metadata_only = true},
      [&](kube::Object object) {
        if (are_secrets ? core::is_token_secret(object, forging.clusters)
                        : core::is_reflected(object, forging.clusters))
          found.push_back(std::move(object));
        return true;
      });
  // Twins are removed, and with them the right to read them.
  if (!listed && listed.error().is_permanent()) co_return std::size_t{0};
  if (!listed)
    co_return kube::fail(std::move(listed.error()), "listing what is left at cluster " + forging.clusters.remote);
  for (const kube::Object& object : found) {
    if (object.is_deleting()) continue;
    // The older one may be gone by now: then these are the pods of the Node.
    if (!stands_aside(virtual_node)) co_return kube::fail(kube::Errc::closed, "the VirtualNode stands aside no more");
    KUBE_CO_TRYV(co_await kube::remove_object(
        provider, twin.resource, object.key(),
        {.options = {.uid = std::string(object.uid())}, .phase = "ending a pod of a VirtualNode that stands aside"}));
  }
  co_return found.size();
}

asio::awaitable<kube::Result<void>> NamesakeController::report(kube::Object virtual_node, kube::Object older,
                                                               const kube::Result<std::size_t>& left) {
  for (const core::virtual_node_action::Report& due : core::report_standing_aside(older, left)) {
    KUBE_CO_TRYV(co_await set_virtual_node_condition(context_, *virtual_nodes_, virtual_node.key(), due.condition()));
  }
  context_.events.warning(virtual_node, api::kinds::virtual_nodes, core::name_taken, core::name_taken_text(older));
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
