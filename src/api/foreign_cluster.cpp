#include "liqo/api/foreign_cluster.hpp"

#include "kube/k8s/condition.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::api {

std::string_view ForeignCluster::role() const {
  const std::string_view role = kube::string_at(object_->status(), {"role"});
  return role.empty() ? std::string_view("Unknown") : role;
}

std::string_view ForeignCluster::condition(std::string_view type) const {
  const auto status_in = [type](const kube::json::array& conditions) -> std::string_view {
    const kube::json::object* found = kube::find_condition(conditions, type);
    return found ? kube::string_at(*found, {"status"}) : "";
  };
  const kube::json::object& status = object_->status();
  if (const auto found = status_in(kube::array_at(status, {"conditions"})); !found.empty()) return found;
  for (const char* name : {"networking", "authentication", "offloading"})
    if (const auto found = status_in(kube::array_at(status, {"modules", name, "conditions"})); !found.empty())
      return found;
  return "";
}

bool ForeignCluster::is_permanently_unreachable() const {
  return object_->annotation(annotations::permanently_unreachable) == "true" &&
         condition("APIServerStatus") != "Established";
}

bool ForeignCluster::is_older_than_declarations() const {
  if (role() != "Provider" && role() != "ConsumerAndProvider") return false;
  const kube::json::object* networking = kube::find_condition(
      kube::array_at(object_->status(), {"modules", "networking", "conditions"}), "NetworkConfigurationStatus");
  return !networking || kube::string_at(*networking, {"reason"}) == reasons::pod_addresses_unchecked;
}

}  // namespace liqo::api
