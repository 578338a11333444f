#include "controllers/peering/leader_bindings.hpp"

#include <utility>

#include "controllers/common/ensure_binding.hpp"
#include "core/peering/silence.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/tenant.hpp"

namespace liqo::controllers {
namespace {

using kube::Outcome;

/// After a refusal no consumer gets the right for this time: with an older chart each Tenant would try again and again.
constexpr kube::Duration refusal_pause = std::chrono::minutes(10);
/// The group of the bindings in the keys of the controller; no namespace has such a name.
constexpr std::string_view leader_bindings = "leader bindings";

}  // namespace

LeaderBindings::LeaderBindings(const TenantNamespaces& namespaces, const kube::InformerHandle& tenants,
                               kube::Controller& controller, Context context)
    : namespaces_(namespaces), tenants_(tenants), controller_(controller), context_(std::move(context)) {}

bool LeaderBindings::is_binding(const kube::WorkKey& work) { return work.group == leader_bindings; }

void LeaderBindings::see(const kube::ObjectKey& binding) {
  if (binding.ns == context_.settings.liqo_namespace) enqueue(binding);
}

void LeaderBindings::see_all() {
  for (const kube::ObjectKey& key : namespaces_.bindings().store().keys_in(context_.settings.liqo_namespace))
    enqueue(key);
}

void LeaderBindings::enqueue(const kube::ObjectKey& binding) {
  controller_.enqueue({std::string(leader_bindings), binding});
}

asio::awaitable<void> LeaderBindings::bind(std::string consumer) {
  if (context_.clock.now() < hidden_until_) co_return;
  auto bound = co_await ensure_binding(context_.home.api(), namespaces_.bindings(),
                                       core::forge_leader_binding(context_.settings.liqo_namespace, consumer));
  if (bound) co_return;
  // An older chart has no such role: the consumer then reports only what it sees itself.
  const kube::TimePoint now = context_.clock.now();
  if (bound.error().is_forbidden() || bound.error().is_not_found()) hidden_until_ = now + refusal_pause;
  if (const auto held_back = logged_.note(bound.error().text(), now))
    log_.warn("the consumer cannot see whether liqod runs here",
              {{"cluster", consumer}, {"error", bound.error()}, {"others_since", *held_back}});
}

asio::awaitable<kube::Result<void>> LeaderBindings::unbind(std::string consumer) {
  const kube::ObjectKey key = core::forge_leader_binding(context_.settings.liqo_namespace, consumer).key();
  if (!namespaces_.bindings().find(key)) co_return kube::Result<void>();
  KUBE_CO_TRYV(co_await kube::remove_object(context_.home.api(), api::kinds::role_bindings, key,
                                            {.options = {}, .phase = "taking the consumer's rights"}));
  co_return kube::Result<void>();
}

asio::awaitable<Outcome> LeaderBindings::reconcile(kube::ObjectKey key) {
  // A liqod that did not know this binding may have released the Tenant.
  const auto binding = namespaces_.bindings().find(key);
  if (!binding || binding->is_deleting()) co_return Outcome::done();
  const std::string consumer(binding->label(api::labels::remote_cluster_id));
  if (consumer.empty() || core::forge_leader_binding(key.ns, consumer).key() != key) co_return Outcome::done();
  for (const kube::Object& tenant : tenants_->objects())
    if (api::Tenant(tenant).cluster_id() == consumer) co_return Outcome::done();
  KUBE_CO_TRY(removed, co_await kube::remove_object(context_.home.api(), api::kinds::role_bindings, key,
                                                    {.options = {.uid = std::string(binding->uid())},
                                                     .phase = "taking the rights of a consumer without a Tenant"}));
  namespaces_.bindings().observe_gone(key, binding->uid());
  if (removed) log_.info("a consumer without a Tenant sees the leader no longer", {{"cluster", consumer}});
  // A Tenant that was created meanwhile has found the binding.
  for (const kube::Object& tenant : tenants_->objects())
    if (api::Tenant(tenant).cluster_id() == consumer) controller_.enqueue({std::string(tenant.ns()), tenant.key()});
  co_return Outcome::done();
}

}  // namespace liqo::controllers
