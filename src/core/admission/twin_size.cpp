#include "core/admission/twin_size.hpp"

#include <algorithm>

#include "core/admission/tenant_rules.hpp"

namespace liqo::core::admission {
namespace {

std::int64_t size_of(const kube::Object& object) {
  return object.tree().empty() ? 0 : static_cast<std::int64_t>(object.text().size());
}

}  // namespace

std::int64_t counted_objects(const Resources& used) {
  kube::Quantity sum;
  for (const auto& [name, amount] : used)
    if (name.starts_with("count/")) sum += amount;
  return sum.value();
}

Answer check_size(const Request& request, std::string_view consumer, std::int64_t objects, const PodPolicy& policy) {
  if (!request.writes_object() || !is_of_consumer(request.user, consumer)) return Answer::allow();
  const std::int64_t size = size_of(request.object);
  const std::int64_t others = std::max<std::int64_t>(objects, 0) + (request.operation == Operation::create ? 1 : 0);
  const std::int64_t max_size = policy.max_twin_bytes / std::max<std::int64_t>(others, 1);
  if (size <= max_size || size <= size_of(request.old_object)) return Answer::allow();
  return Answer::deny(
      known_as(request, request.plural) + " has " + std::to_string(size) +
      " bytes, and while the namespaces of the consumer hold " + std::to_string(objects) + " objects, none of " +
      request.plural + " may have more than " + std::to_string(max_size) +
      ": make it smaller, have fewer objects, or ask the provider for more (maxTwinBytes in the policy)");
}

}  // namespace liqo::core::admission
