#include "controllers/common/ensure_binding.hpp"

#include "controllers/common/guarded_write.hpp"
#include "kube/runtime/remove_object.hpp"

namespace liqo::controllers {

namespace action = core::binding_action;

asio::awaitable<kube::Result<void>> ensure_binding(kube::Api& api, kube::Informer& informer, kube::Object wanted,
                                                   PlanBinding plan) {
  const kube::Resource& resource = informer.scope().resource;
  const kube::ObjectKey key = wanted.key();
  if (!plan) plan = [&wanted](const kube::Object* existing) { return core::plan_binding(existing, wanted); };
  std::optional<kube::Object> live = informer.find(key);
  core::BindingPlan due = plan(live ? &*live : nullptr);
  if (std::holds_alternative<action::Create>(due)) {
    auto created = co_await api.create(resource, wanted);
    if (created) {
      informer.observe(std::move(*created));
      co_return kube::Result<void>();
    }
    if (!created.error().is_already_exists()) co_return kube::fail(std::move(created.error()), "binding a role");
    // The binding is not in the cache: it is new, or it lacks the label that the cache selects.
    KUBE_CO_TRY(found, co_await api.get(resource, key), "binding a role");
    live = std::move(found);
    due = plan(&*live);
    informer.observe(*live);
  }
  if (auto* refuse = std::get_if<action::Refuse>(&due))
    co_return kube::fail(kube::Errc::invalid_input, std::move(refuse->message));
  if (std::holds_alternative<action::Replace>(due)) {
    KUBE_CO_TRYV(co_await kube::remove_object(
        api, resource, key,
        {.options = {.uid = std::string(live->uid())}, .phase = "removing a binding of another role"}));
    informer.observe_gone(key, live->uid());
    KUBE_CO_TRY(created, co_await api.create(resource, wanted), "binding a role");
    informer.observe(std::move(created));
  } else if (auto* change = std::get_if<action::Patch>(&due)) {
    KUBE_CO_TRY(
        patched,
        co_await api.patch(resource, key, {kube::PatchType::merge, guarded_patch(*live, std::move(change->patch))}),
        "repairing a binding");
    informer.observe(std::move(patched));
  }
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
