#include "model/closings.hpp"

#include <algorithm>

#include "kube/k8s/condition.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/resource_slice.hpp"
#include "liqo/core/quota/resources.hpp"
#include "liqo/core/slices/cordon.hpp"
#include "liqo/core/slices/grant.hpp"
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

constexpr std::string_view cordoned = "Cordoned", drained = "Drained";
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
  // The reason that the Go version has for every denial: the words tell.
  if (reason == reasons::resources_denied && message.contains(" drained ")) return drained;
  if (reason == reasons::resources_denied && message.contains(" cordoned ")) return cordoned;
  if (!is_lent(slice)) return {};
  return core::is_drained(slice) ? drained : core::is_cordoned(slice) ? cordoned : std::string_view();
}

std::string_view state_of_slice(const kube::Object& slice) {
  if (const std::string_view closing = closing_of(slice); !closing.empty()) return closing;
  const std::string_view resources = status_of(slice, liqo::api::slice_conditions::resources),
                         authentication = status_of(slice, liqo::api::slice_conditions::authentication);
  if (resources == "Denied" || authentication == "Denied") return "Denied";
  return resources == "Accepted" && authentication == "Accepted" ? "Accepted" : "Pending";
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
    if (closing.empty() || !is_with(slice, peer)) continue;
    const std::string name = shown(slice.name(), max_name);
    if (!is_lent(slice)) {
      told.push_back("slice " + name + " is " + std::string(closing) + " by " + shown(peer, max_name));
    } else if (!is_tenant_closed) {
      told.push_back("slice " + name + " is " + std::string(closing) + " here (liqoctl uncordon resourceslice " + name +
                     consumer + ")");
    }
  }
  return told;
}

std::string lent_to(std::string_view consumer, const std::vector<kube::Object>& slices) {
  core::Resources lent;
  std::size_t count = 0;
  for (const kube::Object& slice : slices) {
    if (!is_lent(slice) || !is_with(slice, consumer) || closing_of(slice) == drained) continue;
    const auto granted = core::read_resources(kube::object_at(slice.status(), {"resources"}));
    if (!granted || granted->empty()) continue;
    ++count;
    core::add(lent, *granted);
  }
  if (count == 0) return "nothing yet";
  return counted(count, "slice", "slices") + " (" + in_words(core::write_resources(lent)) + ")";
}

}  // namespace liqoctl::model
