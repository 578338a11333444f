#include "rules.hpp"

#include <algorithm>

#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/resource_slice.hpp"

namespace pool {
namespace {

namespace api = liqo::api;
namespace json = kube::json;

constexpr std::string_view granted_reason = "FromPool";
constexpr std::string_view fits = "it fits into the pool";
/// Consumers choose the names of resources, and how many they list.
constexpr std::size_t longest_list = 200;

kube::Result<Amounts> read_amounts(const json::object& resources) {
  Amounts amounts;
  for (const auto& [name, value] : resources) {
    KUBE_TRY(amount, kube::Quantity::from_json(value));
    amounts.emplace(name, amount);
  }
  return amounts;
}

/// The names that `other` lacks.
std::string without(const Amounts& amounts, const Amounts& other) {
  std::string names;
  for (const auto& [name, amount] : amounts)
    if (!other.contains(name)) names += (names.empty() ? "" : ", ") + name;
  return kube::one_line(names, longest_list);
}

/// The pool without the grants of the other slices.
Amounts left_of(const Amounts& pool, const kube::Object& slice, std::span<const kube::Object> ours) {
  Amounts left = pool;
  for (const kube::Object& other : ours) {
    if (other.uid() == slice.uid()) continue;
    // Only this cluster writes grants, so they can be read.
    if (const auto granted = read_amounts(api::ResourceSlice(other).granted()))
      for (const auto& [name, amount] : *granted) left[name] -= amount;
  }
  return left;
}

bool is_of_liqo(std::string_view reason) { return reason == "TenantCordoned" || reason == "TenantDrained"; }

}  // namespace

kube::Result<Amounts> read_pool(std::string_view text) {
  Amounts amounts;
  for (const std::string_view part : kube::split(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos)
      return kube::fail(kube::Errc::parse, kube::in_quotes(part) + " is not of the form NAME=AMOUNT");
    KUBE_TRY(amount, kube::Quantity::parse(kube::trim(part.substr(equals + 1))));
    amounts.insert_or_assign(std::string(kube::trim(part.substr(0, equals))), amount);
  }
  if (amounts.empty()) return kube::fail(kube::Errc::parse, "no resource is named");
  return amounts;
}

Answer decide(const kube::Object& slice, std::span<const kube::Object> ours, const Amounts& pool) {
  const api::ResourceSlice view(slice);
  const auto deny = [](std::string_view reason, std::string message) {
    return Answer{.accepted = false, .reason = reason, .message = std::move(message)};
  };
  const auto accept = [](const json::object& resources) {
    return Answer{.accepted = true, .reason = granted_reason, .message = std::string(fits), .resources = resources};
  };
  const auto wanted = read_amounts(view.requested());
  if (!wanted) return deny("InvalidRequest", "spec.resources: " + kube::printable(wanted.error().text()));
  if (const std::string unknown = without(*wanted, pool); !unknown.empty())
    return deny("NotInPool", "the pool has no " + unknown + ": leave that out");
  if (const std::string missing = without(pool, *wanted); !missing.empty())
    return deny("InvalidRequest", "say how much " + missing + " is wanted");
  const auto said = view.condition(api::slice_conditions::resources);
  const auto has = read_amounts(view.granted());
  // It has that already, even if the pool has become smaller.
  if (said && said->reason == granted_reason && has && *has == *wanted) return accept(view.granted());
  const Amounts left = left_of(pool, slice, ours);
  for (const auto& [name, amount] : *wanted) {
    if (amount.sign() < 0) return deny("InvalidRequest", name + " is less than nothing");
    const kube::Quantity free = std::max(left.at(name), kube::Quantity());
    if (amount > free)
      return deny("PoolExhausted",
                  amount.readable() + " of " + name + " is more than the " + free.readable() + " that is left");
  }
  return accept(view.requested());
}

std::optional<json::object> plan_status(const kube::Object& slice, const Answer& answer, kube::WallTime now) {
  const api::ResourceSlice view(slice);
  const auto said = view.condition(api::slice_conditions::resources);
  // Liqo itself takes its withdrawal back.
  if (said && is_of_liqo(said->reason)) return std::nullopt;
  json::object status;
  const kube::Condition condition{
      .type = api::slice_conditions::resources,
      .status = answer.accepted ? api::slice_conditions::accepted : api::slice_conditions::denied,
      .reason = answer.reason,
      .message = answer.message};
  if (auto conditions = api::with_slice_condition(slice, condition, now)) status["conditions"] = std::move(*conditions);
  // A denied edit leaves the grant as it is: Liqo keeps to it.
  if (answer.accepted && answer.resources != view.granted()) {
    json::object resources;
    // In a merge patch, null takes a key away.
    for (const auto& [name, value] : view.granted()) resources[name] = nullptr;
    for (const auto& [name, value] : answer.resources) resources[name] = value;
    status["resources"] = std::move(resources);
  }
  if (status.empty()) return std::nullopt;
  return json::object{{"metadata", json::object{{"resourceVersion", slice.resource_version()}}},
                      {"status", std::move(status)}};
}

}  // namespace pool
