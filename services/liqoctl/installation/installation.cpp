#include "installation/installation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "core/common/peer_names.hpp"
#include "core/usage/metrics_api.hpp"
#include "installation/chart_objects.hpp"
#include "kube/base/printable.hpp"
#include "kube/client/self_review.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"
#include "model/install/install.hpp"
#include "model/objects.hpp"
#include "session/wait.hpp"

namespace liqoctl {
namespace {

namespace json = kube::json;
namespace kinds = liqo::api::kinds;
using kube::Errc;

constexpr int oldest_minor = 30;

/// Removes the objects of the chart that are in the cluster but not in `kept`.
asio::awaitable<Result<void>> remove_all_but(Cluster& cluster, std::set<Place> kept) {
  KUBE_CO_TRY(others, co_await find_all_but(cluster, std::move(kept)));
  for (const auto& [kind, key] : others) {
    KUBE_CO_TRY(removed, co_await cluster.remove(kind, key));
    if (removed) cluster.output().detail(cluster.scope(), std::string(kind.kind) + " " + key.text() + " removed");
  }
  co_return Result<void>();
}

/// Checks that the cluster has the kinds of other projects that the values ask for, before anything is written.
asio::awaitable<Result<void>> check_kind(Cluster& cluster, kube::Resource kind) {
  const std::string way_out = model::install_first(kind);
  if (way_out.empty()) co_return Result<void>();
  auto found = co_await cluster.list(kind, cluster.liqo_namespace());
  if (!found && found.error().is_not_found())
    co_return kube::fail(Errc::missing,
                         cluster.api().cluster() + " has no kind " + std::string(kind.kind) + ": " + way_out);
  if (!found) co_return std::unexpected(std::move(found.error()));
  co_return Result<void>();
}

asio::awaitable<Result<void>> check_version(Cluster& cluster) {
  KUBE_CO_TRY(text, co_await cluster.api().raw("/version", std::chrono::seconds(10)),
              "asking for the version of Kubernetes");
  KUBE_CO_TRY(version, kube::parse_json(text));
  const std::string_view major = kube::string_at(version, {"major"}), minor = kube::string_at(version, {"minor"});
  int number = 0;
  std::from_chars(minor.data(), minor.data() + minor.size(), number);
  if (major == "1" && number < oldest_minor)
    co_return kube::fail(Errc::unsupported, "Kubernetes 1." + std::to_string(oldest_minor) +
                                                " or later is needed, and " + cluster.api().cluster() + " runs 1." +
                                                kube::printable(minor));
  co_return Result<void>();
}

asio::awaitable<Result<void>> check_right(Cluster& cluster, kube::Resource kind, kube::ObjectKey key,
                                          std::string verb) {
  json::object attributes{{"group", kind.group}, {"resource", kind.plural}, {"verb", verb}};
  // A right to change may be restricted to names, a right to create cannot be.
  if (verb != "create") attributes["name"] = key.name;
  if (!key.ns.empty()) attributes["namespace"] = key.ns;
  KUBE_CO_TRY(may, co_await kube::may_do(cluster.api(), std::move(attributes)), "asking what you may do");
  if (!may)
    co_return kube::fail(Errc::invalid_input, "you may not " + verb + " " + std::string(kind.plural) +
                                                  (key.ns.empty() ? "" : " in namespace " + key.ns) + " of " +
                                                  cluster.api().cluster() +
                                                  ": an administrator of the cluster has to install Liqo");
  co_return Result<void>();
}

}  // namespace

asio::awaitable<Result<void>> check_cluster(Cluster& cluster, const std::vector<json::value>& manifests) {
  KUBE_CO_TRYV(co_await check_version(cluster));
  std::set<std::pair<std::string_view, std::string>> asked;
  for (const json::value& manifest : manifests) {
    KUBE_CO_TRY(kind, resource_of(manifest));
    const std::string ns(kube::string_at(manifest, {"metadata", "namespace"}));
    if (!asked.emplace(kind.kind, ns).second) continue;
    KUBE_CO_TRYV(co_await check_kind(cluster, kind));
    for (const char* verb : {"create", "patch"})
      KUBE_CO_TRYV(co_await check_right(cluster, kind,
                                        {ns, std::string(kube::string_at(manifest, {"metadata", "name"}))}, verb));
  }
  co_return Result<void>();
}

asio::awaitable<Result<void>> apply_all(Session& session, Cluster& cluster, const std::vector<json::value>& manifests) {
  std::vector<kube::ObjectKey> served;
  for (const json::value& manifest : manifests) {
    KUBE_CO_TRY(kind, resource_of(manifest));
    Object object(manifest.as_object());
    cluster.output().doing(cluster.scope(), "applying " + std::string(kind.kind) + " " + object.key().text());
    if (kind == kinds::custom_resource_definitions) {
      served.push_back(object.key());
      KUBE_CO_TRY(narrows, co_await would_narrow(cluster, object));
      if (narrows) continue;
    }
    KUBE_CO_TRYV(co_await cluster.api().apply(kind, object, field_manager));
  }
  for (const kube::ObjectKey& key : served) {
    KUBE_CO_TRYV(co_await wait_for_object(
        cluster, {.what = "CRD " + key.name + " to be served", .deadline = session.deadline(), .needs_liqod = false},
        {.resource = kinds::custom_resource_definitions, .key = key}, [](const Object* definition) {
          return WaitState{.done = definition && kube::has_condition(*definition, "Established")};
        }));
  }
  co_return Result<void>();
}

asio::awaitable<Result<void>> apply_installation(Session& session, Cluster& cluster,
                                                 const std::vector<json::value>& manifests) {
  KUBE_CO_TRYV(co_await apply_all(session, cluster, manifests));
  co_return co_await remove_all_but(cluster, places_of(manifests));
}

asio::awaitable<Result<void>> remove_usage_api(Cluster& cluster) {
  // The daemon does not create the API again without its role.
  KUBE_CO_TRYV(co_await cluster.remove(kinds::cluster_roles, {"", std::string(liqo::api::metric_agent_role)}));
  const kube::ObjectKey key{"", std::string(liqo::core::metrics_api_service)};
  KUBE_CO_TRY(found, co_await cluster.find(liqo::api::kinds::api_services, key));
  const bool is_ours = found && std::ranges::any_of(found->owner_references(), [](const kube::OwnerReference& owner) {
                         return owner.name == liqo::api::metric_agent_role;
                       });
  if (!is_ours) co_return Result<void>();
  KUBE_CO_TRYV(co_await cluster.remove(liqo::api::kinds::api_services, key));
  co_return Result<void>();
}

asio::awaitable<Result<void>> remove_installation(Session& session, Cluster& cluster) {
  const std::string ns = cluster.liqo_namespace();
  cluster.output().doing(cluster.scope(), "removing liqod");
  KUBE_CO_TRYV(co_await remove_usage_api(cluster));
  KUBE_CO_TRYV(co_await cluster.remove(kinds::deployments, {ns, "liqod"}));
  KUBE_CO_TRYV(co_await wait_for_absence(
      cluster, {.what = "the pods of liqod to go", .deadline = session.deadline()},
      {.resource = kube::resources::pods, .ns = ns, .label_selector = "app.kubernetes.io/name=liqod"}));
  KUBE_CO_TRYV(co_await remove_all_but(cluster, {}));
  for (const kube::Resource& kind : {kinds::mutating_configurations, kinds::validating_configurations})
    KUBE_CO_TRYV(co_await wait_for_absence(
        cluster, {.what = "the " + std::string(kind.kind) + " to go", .deadline = session.deadline()},
        {.resource = kind, .label_selector = kube::label_is(liqo::api::labels::webhook)}));
  // liqod's own objects in its namespace. Others may use the namespace too.
  const std::array<std::pair<kube::Resource, std::string_view>, 5> own{
      {{kube::resources::secrets, liqo::api::webhook_certificate_secret},
       {kube::resources::secrets, liqo::api::metric_agent_secret},
       {kube::resources::secrets, liqo::core::cluster_keys_secret},
       {kube::resources::config_maps, liqo::core::cluster_id_config_map},
       {kube::resources::leases, "liqod"}}};
  for (const auto& [kind, name] : own) KUBE_CO_TRYV(co_await cluster.remove(kind, {ns, std::string(name)}));
  KUBE_CO_TRY(space, co_await cluster.find(kube::resources::namespaces, {"", ns}));
  if (space && space->annotation(model::made_by) == model::made_by_liqoctl) {
    KUBE_CO_TRYV(co_await cluster.remove(kube::resources::namespaces, {"", ns}));
    co_return co_await wait_for_namespace_to_go(cluster, session.deadline(), ns, "namespace");
  }
  co_return Result<void>();
}

asio::awaitable<Result<void>> remove_kinds(Session& session, Cluster& cluster,
                                           const std::vector<json::value>& definitions) {
  for (const json::value& definition : definitions) {
    const kube::ObjectKey key{"", std::string(kube::string_at(definition, {"metadata", "name"}))};
    KUBE_CO_TRYV(co_await cluster.remove(kinds::custom_resource_definitions, key));
    KUBE_CO_TRYV(co_await wait_for_object_to_go(cluster,
                                                {.what = "CRD " + key.name + " to go", .deadline = session.deadline()},
                                                {.resource = kinds::custom_resource_definitions, .key = key}));
  }
  co_return Result<void>();
}

}  // namespace liqoctl
