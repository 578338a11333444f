#include "usage/api_service.hpp"

#include "core/common/owner.hpp"
#include "core/usage/front_proxy.hpp"
#include "core/usage/metrics_api.hpp"
#include "kube/base/base64.hpp"
#include "kube/base/printable.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::usage {
namespace {

namespace json = kube::json;
using core::ApiServiceStep;

const kube::ObjectKey key{"", std::string(core::metrics_api_service)};
/// How often the Service is looked for on which the missing front proxy is reported.
constexpr kube::Duration unreported = std::chrono::seconds(10);
/// The EndpointSlice in which API servers list their addresses.
const kube::ObjectKey api_servers_key{"default", "kubernetes"};

kube::InformerHandle acquire(kube::InformerSet& home, const kube::Resource& resource, const kube::ObjectKey& one) {
  return home.acquire({.resource = resource, .ns = one.ns, .selection = {.field_selector = kube::name_is(one.name)}});
}

const json::value& endpoints_of(const kube::Object& slice) {
  static const json::value none;
  const json::value* found = slice.tree().if_contains("endpoints");
  return found ? *found : none;
}

/// Why an APIService is not available, in the API server's words.
std::string trouble_of(const kube::Object& api_service) {
  const json::object* available = kube::find_condition(api_service.status(), "Available");
  if (!available) return "no API server has looked at it";
  return std::string(kube::string_at(*available, {"reason"})) + ": " +
         std::string(kube::string_at(*available, {"message"}));
}

}  // namespace

ApiServiceKeeper::ApiServiceKeeper(ApiServiceContext context)
    : context_(std::move(context)),
      log_("metric-agent"),
      services_(acquire(context_.home, api::kinds::api_services, key)),
      space_(acquire(context_.home, kube::resources::namespaces, {"", context_.ns})),
      front_proxy_map_(acquire(context_.home, kube::resources::config_maps, core::authentication_map)),
      api_servers_(acquire(context_.home, api::kinds::endpoint_slices, api_servers_key)),
      controller_(context_.environment(), {.name = "metrics-api-service"},
                  [this](const kube::WorkKey&) { return reconcile(); }) {
  for (kube::InformerHandle* handle : {&services_, &space_, &front_proxy_map_})
    controller_.watch(*handle, [](const kube::ObjectKey&) { return key; });
  controller_.watch(api_servers_, [this](const kube::Change& change) {
    if (!change.changes(endpoints_of)) return;
    // Another API server may reach what the last one could not.
    other_servers_ = true;
    controller_.enqueue({.object = key});
  });
}

asio::awaitable<void> ApiServiceKeeper::run() {
  memory_ = {};
  reported_no_front_proxy_ = false;
  controller_.enqueue({.object = key});
  co_await controller_.run();
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
          {"service", json::object{{"namespace", context_.ns}, {"name", core::metric_agent_service}, {"port", 443}}}};
}

core::ApiServiceSnapshot ApiServiceKeeper::look_at(const std::optional<kube::Object>& found) const {
  using Stored = core::ApiServiceSnapshot::Stored;
  core::ApiServiceSnapshot snapshot{.is_ready = context_.is_ready()};
  const auto map = front_proxy_map_->find(core::authentication_map);
  snapshot.has_front_proxy = map && !core::read_front_proxy(*map).ca_pem.empty();
  const auto space = space_->find({"", context_.ns});
  snapshot.is_namespace_going = space && space->is_deleting();
  if (!found) return snapshot;
  const bool is_ours = kube::string_at(found->spec(), {"service", "namespace"}) == context_.ns &&
                       kube::string_at(found->spec(), {"service", "name"}) == core::metric_agent_service;
  snapshot.stored = found->is_deleting() ? Stored::going : is_ours ? Stored::ours : Stored::others;
  snapshot.is_right =
      found->spec() == wanted_spec() && core::is_owned_by(*found, api::kinds::cluster_roles, api::metric_agent_role);
  snapshot.answers = core::read_available(*found);
  return snapshot;
}

asio::awaitable<kube::Outcome> ApiServiceKeeper::reconcile() {
  // The reconcile is repeated once there is a certificate.
  if (ca_pem_.empty()) co_return kube::Outcome::done();
  auto found = services_->find(key);
  if (std::exchange(other_servers_, false)) memory_.withdrawn.reset();
  const core::ApiServiceSnapshot snapshot = look_at(found);
  const core::ApiServicePlan plan = core::plan_api_service(snapshot, memory_, context_.clock.now());
  KUBE_CO_TRYV(co_await carry_out(plan.step, std::move(found)));
  memory_ = plan.memory;
  if (snapshot.has_front_proxy) {
    reported_no_front_proxy_ = false;
  } else if (!reported_no_front_proxy_) {
    reported_no_front_proxy_ = co_await report(
        "consumers see no metrics of their pods, because the API server has no front-proxy CA, by which it would show "
        "that it asks: start it with --requestheader-client-ca-file and --proxy-client-cert-file, or set "
        "metricAgent.enabled=false");
    // An installer may make the Service after everything else.
    if (!reported_no_front_proxy_) co_return kube::Outcome::again_after(unreported);
  }
  co_return plan.again ? kube::Outcome::again_after(*plan.again) : kube::Outcome::done();
}

asio::awaitable<kube::Result<void>> ApiServiceKeeper::carry_out(ApiServiceStep step,
                                                                std::optional<kube::Object> found) {
  switch (step) {
    case ApiServiceStep::leave:
      break;
    case ApiServiceStep::write:
      co_return co_await write(std::move(found));
    case ApiServiceStep::remove_with_namespace:
    case ApiServiceStep::remove_without_front_proxy:
    case ApiServiceStep::withdraw:
      co_return co_await remove(step, std::move(found));
  }
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> ApiServiceKeeper::write(std::optional<kube::Object> found) {
  // The role is read each time: nothing is recreated while an installation is being removed.
  const auto role =
      co_await context_.leader_api.get(api::kinds::cluster_roles, {"", std::string(api::metric_agent_role)});
  if (!role && !role.error().is_not_found())
    co_return std::unexpected(role.error().in("looking for what owns the APIService"));
  if (!role || role->is_deleting())
    co_return kube::fail(kube::Errc::missing, "no APIService is made without the ClusterRole " +
                                                  std::string(api::metric_agent_role) +
                                                  " of the chart, with which it is removed: install that");
  kube::Object wanted = found ? std::move(*found) : kube::Object::make(api::kinds::api_services, key);
  wanted.tree()["spec"] = wanted_spec();
  if (auto owned = core::owned_by(wanted, *role)) wanted = std::move(*owned);
  KUBE_CO_TRY(stored,
              wanted.uid().empty() ? co_await context_.leader_api.create(api::kinds::api_services, wanted)
                                   : co_await context_.leader_api.replace(api::kinds::api_services, wanted),
              "writing the APIService");
  log_.info("wrote the APIService of consumers' usage");
  services_->observe(std::move(stored));
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> ApiServiceKeeper::remove(ApiServiceStep step, std::optional<kube::Object> found) {
  // Another APIService with the name may point to liqod, too: 409 is a failure here.
  auto removed = co_await context_.leader_api.remove(api::kinds::api_services, key, {.uid = std::string(found->uid())});
  if (!removed && !removed.error().is_not_found())
    co_return kube::fail(std::move(removed.error()), "deleting the APIService");
  if (step == ApiServiceStep::remove_with_namespace) {
    log_.info("deleted the APIService of consumers' usage: the namespace of this program is being removed");
  } else if (step == ApiServiceStep::remove_without_front_proxy) {
    log_.warn("deleted the APIService of consumers' usage, of which no API server could make use");
  } else {
    std::string trouble = kube::printable(trouble_of(*found));
    log_.warn("deleted the APIService of consumers' usage for an hour: the API server does not reach what is behind it",
              {{"error", trouble}});
    co_await report(
        "APIService " + key.name + " is deleted for an hour, because the API server does not reach it, and " +
        "Kubernetes removes no namespace meanwhile (" + trouble +
        "): open the port of the metric agent to it (value metricAgent.port), or set metricAgent.enabled=false");
  }
  co_return kube::Result<void>();
}

asio::awaitable<bool> ApiServiceKeeper::report(std::string sentence) {
  const auto service = co_await context_.leader_api.get(kube::resources::services,
                                                        {context_.ns, std::string(core::metric_agent_service)});
  if (!service) co_return false;
  context_.events.warning(*service, kube::resources::services, api::reasons::figures_not_served, std::move(sentence));
  co_return true;
}

}  // namespace liqo::usage
