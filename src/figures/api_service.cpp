#include "liqo/figures/api_service.hpp"

#include "kube/base/base64.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/core/figures/metrics_api.hpp"
#include "liqo/core/owner.hpp"

namespace liqo::figures {
namespace {

namespace json = kube::json;

const kube::ObjectKey key{"", std::string(core::metrics_api_service)};

}  // namespace

ApiServiceKeeper::ApiServiceKeeper(const kube::Environment& environment, kube::Api& leader_api, kube::InformerSet& home,
                                   std::string ns)
    : leader_api_(leader_api),
      ns_(std::move(ns)),
      log_("metric-agent"),
      services_(home.acquire(
          {.resource = api::kinds::api_services, .ns = {}, .selection = {.field_selector = kube::name_is(key.name)}})),
      space_(home.acquire(
          {.resource = kube::resources::namespaces, .ns = {}, .selection = {.field_selector = kube::name_is(ns_)}})),
      controller_(environment, {.name = "metrics-api-service"}, [this](const kube::WorkKey&) { return reconcile(); }) {
  for (kube::InformerHandle* handle : {&services_, &space_})
    handle->subscribe([this](const kube::ObjectKey&) { controller_.enqueue({.object = key}); },
                      [this] { controller_.enqueue({.object = key}); });
}

void ApiServiceKeeper::trust(std::string ca_pem) {
  ca_pem_ = std::move(ca_pem);
  controller_.enqueue({.object = key});
}

json::object ApiServiceKeeper::wanted_spec() const {
  return {{"group", core::metrics_api_group},
          {"version", core::metrics_api_version},
          {"groupPriorityMinimum", 1000},
          {"versionPriority", 15},
          {"caBundle", kube::encode_base64(ca_pem_)},
          {"service", json::object{{"namespace", ns_}, {"name", core::metric_agent_service}, {"port", 443}}}};
}

asio::awaitable<kube::Outcome> ApiServiceKeeper::reconcile() {
  // The reconcile is repeated once the certificate and the caches are there.
  if (ca_pem_.empty() || !services_->has_synced() || !space_->has_synced()) co_return kube::Outcome::done();
  auto found = services_->find(key);
  if (found && found->is_deleting()) co_return kube::Outcome::done();
  if (found && (kube::string_at(found->spec(), {"service", "namespace"}) != ns_ ||
                kube::string_at(found->spec(), {"service", "name"}) != core::metric_agent_service))
    co_return kube::Outcome::done();
  if (const auto space = space_->find({"", ns_}); space && space->is_deleting()) {
    if (!found) co_return kube::Outcome::done();
    // Another APIService of the name may point to this program, too: 409 is a failure here.
    auto removed = co_await leader_api_.remove(api::kinds::api_services, key, {.uid = std::string(found->uid())});
    if (!removed && !removed.error().is_not_found())
      co_return kube::Outcome::retry(std::move(removed.error()).in("deleting the APIService"));
    log_.info("deleted the APIService of consumers' figures: the namespace of this program is being removed");
    co_return kube::Outcome::done();
  }
  const json::object spec = wanted_spec();
  const bool is_right = found && found->spec() == spec;
  if (is_right && core::is_owned_by(*found, api::kinds::cluster_roles, api::metric_agent_role))
    co_return kube::Outcome::done();
  // The role is read each time: while an installation is being removed nothing is made again.
  const auto role = co_await leader_api_.get(api::kinds::cluster_roles, {"", std::string(api::metric_agent_role)});
  if (!role && !role.error().is_not_found())
    co_return kube::Outcome::retry(role.error().in("looking for what owns the APIService"));
  if (!role || role->is_deleting())
    co_return kube::Outcome::retry({kube::Errc::missing, "no APIService is made without the ClusterRole " +
                                                             std::string(api::metric_agent_role) +
                                                             " of the chart, with which it is removed: install that"});
  kube::Object wanted = found ? std::move(*found) : kube::Object::make(api::kinds::api_services, key);
  wanted.tree()["spec"] = spec;
  if (auto owned = core::owned_by(wanted, *role)) wanted = std::move(*owned);
  auto stored = wanted.uid().empty() ? co_await leader_api_.create(api::kinds::api_services, wanted)
                                     : co_await leader_api_.replace(api::kinds::api_services, wanted);
  if (!stored) co_return kube::Outcome::retry(std::move(stored.error()).in("writing the APIService"));
  log_.info("wrote the APIService of consumers' figures");
  services_->observe(std::move(*stored));
  co_return kube::Outcome::done();
}

}  // namespace liqo::figures
