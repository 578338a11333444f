#include "volumes/kept_twins.hpp"

#include <algorithm>

#include "core/namespaces/withdrawn_twins.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kept_twins.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "session/wait.hpp"

namespace liqoctl {
namespace {

namespace kinds = liqo::api::kinds;
namespace annotations = liqo::api::annotations;
using liqo::core::twins_in;

bool names(const Object& map, std::string_view annotation, const std::string& ns) {
  const auto listed = twins_in(map, annotation);
  return std::ranges::find(listed, ns) != listed.end();
}

}  // namespace

asio::awaitable<Result<std::vector<KeptTwin>>> find_kept_twins(Cluster& cluster, std::string ns, std::string provider) {
  std::vector<KeptTwin> kept;
  auto maps = co_await cluster.list(kinds::namespace_maps, "");
  if (!maps && (maps.error().is_forbidden() || maps.error().is_not_found())) co_return kept;
  if (!maps) co_return std::unexpected(std::move(maps.error()));
  for (const Object& map : *maps) {
    const std::string to(map.label(liqo::api::labels::replication_destination));
    if (map.label(liqo::api::labels::replication) != "true" || (!provider.empty() && to != provider)) continue;
    for (const std::string& name : twins_in(map, annotations::holds_data)) {
      if (!ns.empty() && name != ns) continue;
      const auto why = kube::string_at(map.status(), {"currentMapping", name, "message"});
      kept.push_back({.map = map.key(), .cluster = to, .ns = name, .why = kube::printable(why)});
    }
  }
  co_return kept;
}

asio::awaitable<Result<void>> give_up_twins(Session& session, Cluster& cluster, std::vector<KeptTwin> twins,
                                            bool wait) {
  for (const KeptTwin& twin : twins) {
    const std::function<bool(Object&)> give_up = [&twin](Object& map) {
      auto given_up = twins_in(map, annotations::gives_up);
      if (std::ranges::find(given_up, twin.ns) != given_up.end()) return false;
      given_up.push_back(twin.ns);
      map.set_annotation(annotations::gives_up, kube::join(given_up, ","));
      return true;
    };
    auto told = co_await update(cluster, kinds::namespace_maps, twin.map, give_up);
    if (!told && !told.error().is_not_found())
      co_return kube::fail(std::move(told.error()), "giving up the data in the twin of " + twin.ns);
  }
  if (session.flags().dry_run || !wait) co_return Result<void>();
  for (const KeptTwin& twin : twins) {
    const std::function<WaitState(const Object*)> look = [&twin](const Object* map) -> WaitState {
      if (map && names(*map, annotations::holds_data, twin.ns)) return {.seen = "it is still asked for"};
      return {.done = true};
    };
    const std::string what = "the twin of namespace " + twin.ns + " in " + twin.cluster;
    KUBE_CO_TRYV(co_await wait_for_object(cluster, {.what = what + " to be given up", .deadline = session.deadline()},
                                          {.resource = kinds::namespace_maps, .key = twin.map}, look));
    session.output().success(cluster.scope(), what + " is given up, with the data in it");
  }
  co_return Result<void>();
}

}  // namespace liqoctl
