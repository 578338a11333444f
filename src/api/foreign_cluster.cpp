#include "liqo/api/foreign_cluster.hpp"

#include "liqo/api/labels.hpp"

namespace liqo::api {

std::string_view ForeignCluster::role() const {
  const std::string_view role = kube::string_at(object_->status(), {"role"});
  return role.empty() ? std::string_view("Unknown") : role;
}

std::string_view ForeignCluster::condition(std::string_view type) const {
  const auto status_in = [type](const kube::json::array& conditions) -> std::string_view {
    for (const kube::json::value& entry : conditions)
      if (kube::string_at(entry, {"type"}) == type) return kube::string_at(entry, {"status"});
    return "";
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
  for (const kube::json::value& entry : kube::array_at(object_->status(), {"modules", "networking", "conditions"}))
    if (kube::string_at(entry, {"type"}) == "NetworkConfigurationStatus")
      return kube::string_at(entry, {"reason"}) == reasons::pod_addresses_unchecked;
  return true;
}

}  // namespace liqo::api
