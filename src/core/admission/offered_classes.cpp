#include "core/admission/offered_classes.hpp"

#include <algorithm>
#include <iterator>

namespace liqo::core::admission {
namespace {

std::vector<std::string> names_in(const kube::Object& slice, std::string_view list, std::string_view field) {
  std::vector<std::string> names;
  for (const kube::json::value& entry : kube::array_at(slice.status(), {list}))
    if (const std::string_view name = kube::string_at(entry, {field}); !name.empty()) names.emplace_back(name);
  return names;
}

}  // namespace

void OfferedClasses::add(const OfferedClasses& other) {
  std::ranges::copy(other.storage, std::back_inserter(storage));
  std::ranges::copy(other.ingress, std::back_inserter(ingress));
  std::ranges::copy(other.load_balancer, std::back_inserter(load_balancer));
}

OfferedClasses offered_classes(const kube::Object& slice) {
  return {.storage = names_in(slice, "storageClasses", "storageClassName"),
          .ingress = names_in(slice, "ingressClasses", "ingressClassName"),
          .load_balancer = names_in(slice, "loadBalancerClasses", "loadBalancerClassName")};
}

}  // namespace liqo::core::admission
