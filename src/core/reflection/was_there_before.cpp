#include "core/reflection/was_there_before.hpp"

#include <algorithm>

namespace liqo::core::reflection {

bool was_there_before(const kube::Object& object, std::string_view manager) {
  const kube::json::array& managers = kube::array_at(object.tree(), {"metadata", "managedFields"});
  const auto is_ours = [manager](const kube::json::value& entry) {
    return kube::string_at(entry, {"manager"}) == manager;
  };
  const auto ours = std::ranges::find_if(managers, is_ours);
  const std::string_view written = ours == managers.end() ? "" : kube::string_at(*ours, {"time"});
  return std::ranges::any_of(managers, [&](const kube::json::value& entry) {
    if (is_ours(entry) || kube::string_at(entry, {"subresource"}) == "status") return false;
    return kube::string_at(entry, {"time"}) <= written || written > object.creation_timestamp();
  });
}

}  // namespace liqo::core::reflection
