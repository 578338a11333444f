#include "model/tenant/closings.hpp"

#include <algorithm>
#include <set>

#include "core/common/resources.hpp"
#include "core/slices/cordon.hpp"
#include "core/slices/grant.hpp"
#include "core/slices/provider_words.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/quota.hpp"
#include "liqo/api/resource_slice.hpp"
#include "model/findings.hpp"
#include "model/resources.hpp"
#include "text/shown.hpp"

namespace liqoctl::model {
namespace {

namespace core = liqo::core;
namespace labels = liqo::api::labels;
namespace reasons = core::slice_reasons;
using kube::string_at;
using text::shown;

constexpr std::string_view cordoned = "Cordoned", drained = "Drained", deleting = "Deleting";
constexpr std::size_t max_name = 63;

/// Whether this cluster lends the slice.
bool is_lent(const kube::Object& slice) { return slice.label(labels::replicated) == "true"; }

bool is_with(const kube::Object& object, std::string_view peer) {
  return object.label(labels::remote_cluster_id) == peer;
}

std::string_view status_of(const kube::Object& slice, std::string_view type) {
  const kube::json::object* found = kube::find_condition(slice.status(), type);
  return found ? string_at(*found, {"status"}) : std::string_view();
}

}  // namespace

std::string_view closing_of(const kube::Object& slice) {
  const kube::json::object* said = kube::find_condition(slice.status(), liqo::api::slice_conditions::resources);
  const std::string_view reason = said ? string_at(*said, {"reason"}) : "",
                         message = said ? string_at(*said, {"message"}) : "";
  if (reason == reasons::cordoned || reason == reasons::tenant_cordoned) return cordoned;
  if (reason == reasons::tenant_drained) return drained;
  // The Go version gives every denial this reason, so the message decides.
  if (reason == reasons::resources_denied && message.contains(" drained ")) return drained;
  if (reason == reasons::resources_denied && message.contains(" cordoned ")) return cordoned;
  if (!is_lent(slice)) return {};
  return core::is_drained(slice) ? drained : core::is_cordoned(slice) ? cordoned : std::string_view();
}

std::string_view state_of_slice(const kube::Object& slice) {
  if (slice.is_deleting()) return deleting;
  if (const std::string_view closing = closing_of(slice); !closing.empty()) return closing;
  const std::string_view resources = status_of(slice, liqo::api::slice_conditions::resources),
                         authentication = status_of(slice, liqo::api::slice_conditions::authentication);
  if (resources == "Denied" || authentication == "Denied") return "Denied";
  return resources == "Accepted" && authentication == "Accepted" ? "Accepted" : "Pending";
}

const kube::json::object& granted_now(const kube::Object& slice) {
  static const kube::json::object nothing;
  return closing_of(slice) == drained ? nothing : kube::object_at(slice.status(), {"resources"});
}

bool is_quota_drained(const kube::Object& quota, const std::vector<kube::Object>& tenants) {
  return liqo::api::Quota(quota).is_drained() || std::ranges::any_of(tenants, [&](const kube::Object& tenant) {
           return tenant.ns() == quota.ns() && tenant_condition(tenant) == drained;
         });
}

std::string answer_in_words(const kube::Object& slice, std::string_view message) {
  return is_lent(slice) ? core::in_provider_words(message, slice.label(labels::remote_cluster_id))
                        : std::string(message);
}

std::string tenant_condition(const kube::Object& tenant) {
  const std::string_view condition = string_at(tenant.spec(), {"tenantCondition"});
  return condition.empty() ? "Active" : shown(condition, max_name);
}

std::vector<std::string> closings_with(std::string_view peer, const ClosingObjects& objects) {
  std::vector<std::string> told;
  bool is_tenant_closed = false;
  const std::string consumer = " --remote-cluster-id " + shown(peer, max_name);
  for (const kube::Object& tenant : objects.tenants) {
    const std::string condition = tenant_condition(tenant);
    if (string_at(tenant.spec(), {"clusterID"}) != peer || condition == "Active") continue;
    is_tenant_closed = true;
    const std::string name = shown(tenant.name(), max_name);
    told.push_back("Tenant " + name + " is " + condition + " here (liqoctl uncordon tenant " + name + ")");
  }
  for (const kube::Object& slice : objects.slices) {
    const std::string_view closing = closing_of(slice);
    if (!is_with(slice, peer) || (closing.empty() && !slice.is_deleting())) continue;
    const std::string name = shown(slice.name(), max_name);
    if (slice.is_deleting()) {
      told.push_back("slice " + name + " is being deleted");
    } else if (!is_lent(slice)) {
      told.push_back("slice " + name + " is " + std::string(closing) + " by " + shown(peer, max_name));
    } else if (!is_tenant_closed) {
      told.push_back("slice " + name + " is " + std::string(closing) + " here (liqoctl uncordon resourceslice " + name +
                     consumer + ")");
    }
  }
  for (const kube::Object& node : objects.virtual_nodes)
    if (node.is_deleting() && string_at(node.spec(), {"clusterID"}) == peer)
      told.push_back("virtual node " + shown(node.name(), max_name) + " is being deleted");
  return told;
}

std::string lent_to(std::string_view consumer, const ClosingObjects& objects) {
  core::Resources lent, held;
  std::size_t count = 0;
  bool is_tenant_drained = false, has_drained = false, has_other = false;
  std::set<std::string_view> namespaces;
  for (const kube::Object& tenant : objects.tenants) {
    if (string_at(tenant.spec(), {"clusterID"}) != consumer) continue;
    namespaces.insert(tenant.ns());
    is_tenant_drained = is_tenant_drained || tenant_condition(tenant) == drained;
  }
  for (const kube::Object& slice : objects.slices) {
    if (!is_lent(slice) || !is_with(slice, consumer)) continue;
    namespaces.insert(slice.ns());
    (closing_of(slice) == drained ? has_drained : has_other) = true;
    const auto granted = core::read_resources(granted_now(slice));
    if (!granted || granted->empty()) continue;
    ++count;
    core::add(lent, *granted);
  }
  if (count > 0) return counted(count, "slice", "slices") + " (" + in_words(core::write_resources(lent)) + ")";
  // A slice without an answer may still be granted something.
  if (!is_tenant_drained && (!has_drained || has_other)) return "nothing yet";
  for (const kube::Object& quota : objects.quotas)
    if (namespaces.contains(quota.ns()))
      if (const auto used = core::read_resources(counted_use(quota.status()))) core::add(held, *used);
  core::drop_zeros(held);
  return "nothing new: drained" +
         (held.empty() ? "" : "; its pods hold " + in_words(core::write_resources(held)) + " still");
}

}  // namespace liqoctl::model
