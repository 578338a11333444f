#include "controllers/offloading/daemon_set_notices.hpp"

#include "core/offloading/daemon_sets.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/namespace_offloading.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {

DaemonSetNotices::DaemonSetNotices(Context context)
    : context_(context), offloadings_(context.home.acquire({.resource = api::kinds::namespace_offloadings})) {}

void DaemonSetNotices::see(const kube::Object& local) {
  const auto daemon_set = core::daemon_set_of(local);
  if (!daemon_set || reported_.contains(daemon_set->uid())) return;
  // What the namespace is to do is not known yet: another pod of the DaemonSet may come.
  if (!offloadings_->has_synced()) return;
  const auto offloading = offloadings_->find({std::string(local.ns()), std::string(api::namespace_offloading_name)});
  if (offloading && api::NamespaceOffloading(*offloading).pod_strategy() == api::PodOffloadingStrategy::remote) return;
  reported_.emplace(daemon_set->uid());
  context_.events.warning(*daemon_set, core::daemon_sets, api::reasons::daemon_set_elsewhere,
                          core::describe_daemon_set_elsewhere(daemon_set->key()));
}

}  // namespace liqo::controllers
