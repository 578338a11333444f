#include "webhook/configurations.hpp"

#include "core/common/owner.hpp"
#include "liqo/api/names.hpp"
#include "webhook/configuration_plan.hpp"

namespace liqo::webhook {
namespace {

namespace json = kube::json;

/// There is one object of each kind, and the key names the kind.
const kube::ObjectKey mutating_key{"", "mutating"}, validating_key{"", "validating"};

}  // namespace

Configurations::Configurations(const kube::Environment& environment, kube::Api& leader_api, kube::InformerSet& home,
                               Reach reach)
    : leader_api_(leader_api),
      reach_(std::move(reach)),
      log_("webhook"),
      mutating_(home.acquire({.resource = mutating_configurations,
                              .ns = {},
                              .selection = {.field_selector = kube::name_is(api::webhook_configuration)}})),
      validating_(home.acquire({.resource = validating_configurations,
                                .ns = {},
                                .selection = {.field_selector = kube::name_is(api::webhook_configuration)}})),
      controller_(environment, {.name = "webhook-configuration"},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  controller_.watch(mutating_, [](const kube::ObjectKey&) { return mutating_key; });
  controller_.watch(validating_, [](const kube::ObjectKey&) { return validating_key; });
}

void Configurations::trust(std::string ca_pem) {
  ca_pem_ = std::move(ca_pem);
  controller_.enqueue({.object = mutating_key});
  controller_.enqueue({.object = validating_key});
}

asio::awaitable<kube::Result<std::optional<kube::Object>>> Configurations::installation() {
  auto role = co_await leader_api_.get(api::kinds::cluster_roles, {"", std::string(installation_role)});
  if (!role && role.error().is_not_found()) co_return std::optional<kube::Object>();
  if (!role) co_return std::unexpected(std::move(role.error()));
  if (role->is_deleting()) co_return std::optional<kube::Object>();
  const auto space = co_await leader_api_.get(kube::resources::namespaces, {"", reach_.ns});
  if (!space && !space.error().is_not_found()) co_return std::unexpected(space.error());
  if (!space) co_return std::optional<kube::Object>(std::move(*role));
  const auto owned = core::owned_by(*role, *space);
  if (!owned) co_return std::optional<kube::Object>(std::move(*role));
  // The installer of a role owns the rest of it, so only the owners are patched. The version makes the patch fail if
  // the list of owners has changed.
  json::object metadata;
  metadata["resourceVersion"] = role->resource_version();
  metadata["ownerReferences"] = *kube::find(owned->tree(), {"metadata", "ownerReferences"});
  json::object patch;
  patch["metadata"] = std::move(metadata);
  role = co_await leader_api_.patch(api::kinds::cluster_roles, role->key(),
                                    {kube::PatchType::merge, json::serialize(patch)});
  if (!role) co_return std::unexpected(std::move(role.error()));
  co_return std::optional<kube::Object>(std::move(*role));
}

asio::awaitable<kube::Outcome> Configurations::reconcile(kube::WorkKey key) {
  const bool is_mutating = key.object == mutating_key;
  kube::InformerHandle& stored = is_mutating ? mutating_ : validating_;
  const kube::Resource kind = is_mutating ? mutating_configurations : validating_configurations;
  // The reconcile is repeated once there is a certificate.
  if (ca_pem_.empty()) co_return kube::Outcome::done();
  kube::Object wanted = forge_configuration(kind, reach_, ca_pem_);
  auto found = stored->find(wanted.key());
  if (found && is_in_place(*found, wanted)) co_return kube::Outcome::done();
  // The role is read each time: nothing is recreated while an installation is being removed.
  KUBE_CO_TRY(role, co_await installation(), "looking for what owns the webhook configurations");
  const ConfigurationPlan plan = plan_configuration(std::move(found), std::move(wanted), role);
  if (std::holds_alternative<InPlace>(plan)) co_return kube::Outcome::done();
  if (std::holds_alternative<AwaitRole>(plan))
    co_return kube::Outcome::retry({kube::Errc::missing, "no webhook configuration is made without the ClusterRole " +
                                                             std::string(installation_role) +
                                                             " of the chart, with which it is removed: install that"});
  const auto* replace = std::get_if<Replace>(&plan);
  KUBE_CO_TRY(answer,
              replace ? co_await leader_api_.replace(kind, replace->configuration)
                      : co_await leader_api_.create(kind, std::get<Create>(plan).configuration),
              "writing the webhook configuration");
  log_.info("wrote a webhook configuration", {{"kind", kind.kind}, {"by", reach_.url.empty() ? "service" : "url"}});
  stored->observe(std::move(answer));
  co_return kube::Outcome::done();
}

}  // namespace liqo::webhook
