#include "core/storage/volume_carrier.hpp"

#include <algorithm>

namespace liqo::core::storage {
namespace json = kube::json;
using kube::string_at;

namespace {

bool holds_volume(const json::value& container) {
  const json::array& command = kube::array_at(container, {"command"});
  return std::ranges::equal(command, carrier_command, [](const json::value& word, std::string_view wanted) {
    const auto* text = word.if_string();
    return text && std::string_view(*text) == wanted;
  });
}

}  // namespace

bool is_volume_carrier(const json::object& pod) {
  const auto has_label = [&pod](std::string_view key, std::string_view value) {
    return string_at(pod, {"metadata", "labels", key}) == value;
  };
  const json::value* deadline = kube::find(pod, {"spec", "activeDeadlineSeconds"});
  return has_label(carrier_label, carries_volume) && has_label(manager_label, managed_by_liqoctl) &&
         kube::array_at(pod, {"metadata", "ownerReferences"}).empty() &&
         std::ranges::any_of(kube::array_at(pod, {"spec", "containers"}), holds_volume) &&
         string_at(pod, {"spec", "restartPolicy"}) == "Never" && deadline && deadline->is_number() &&
         std::ranges::any_of(kube::array_at(pod, {"spec", "volumes"}), [](const json::value& volume) {
           return !string_at(volume, {"persistentVolumeClaim", "claimName"}).empty();
         });
}

}  // namespace liqo::core::storage
