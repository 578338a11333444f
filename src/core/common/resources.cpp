#include "core/common/resources.hpp"

namespace liqo::core {
namespace {

constexpr std::size_t max_resources = 256;

}  // namespace

kube::Result<Resources> read_resources(const kube::json::object& list) {
  if (list.size() > max_resources)
    return kube::fail(kube::Errc::invalid_input, "more than " + std::to_string(max_resources) + " resources");
  Resources out;
  for (const auto& [name, value] : list) {
    auto quantity = kube::Quantity::from_json(value);
    if (!quantity)
      return kube::fail(kube::Errc::invalid_input, std::string(name) + ": " + kube::json::serialize(value) +
                                                       " is not a quantity such as 500m, 2 or 1Gi");
    if (quantity->sign() < 0)
      return kube::fail(kube::Errc::invalid_input,
                        std::string(name) + " is " + quantity->text() + ": it cannot be negative");
    out.emplace(std::string(name), *quantity);
  }
  return out;
}

kube::json::object write_resources(const Resources& resources) {
  kube::json::object out;
  for (const auto& [name, quantity] : resources) out[name] = quantity.text();
  return out;
}

void add(Resources& total, const Resources& more) {
  for (const auto& [name, quantity] : more) total[name] += quantity;
}

void subtract(Resources& total, const Resources& less) {
  for (const auto& [name, quantity] : less) total[name] -= quantity;
}

void drop_zeros(Resources& resources) {
  std::erase_if(resources, [](const auto& entry) { return entry.second.is_zero(); });
}

void raise(Resources& resources, const Resources& other) {
  for (const auto& [name, quantity] : other) {
    const auto [at, added] = resources.emplace(name, quantity);
    if (!added && at->second < quantity) at->second = quantity;
  }
}

Resources beyond(const Resources& wanted, const Resources& have) {
  Resources more;
  for (const auto& [name, quantity] : wanted)
    if (const kube::Quantity had = amount(have, name); quantity > had) more.emplace(name, quantity - had);
  return more;
}

kube::Quantity amount(const Resources& resources, std::string_view name) {
  const auto found = resources.find(name);
  return found == resources.end() ? kube::Quantity() : found->second;
}

}  // namespace liqo::core
