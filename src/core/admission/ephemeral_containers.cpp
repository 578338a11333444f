#include "liqo/core/admission/ephemeral_containers.hpp"

#include <set>
#include <string_view>
#include <utility>

#include "liqo/core/quoted.hpp"

namespace liqo::core::admission {
namespace json = kube::json;
namespace {

constexpr std::string_view field = "ephemeralContainers";
constexpr std::string_view way_out = " (maxEphemeralContainers in the policy)";

std::string at(std::size_t index) { return "spec.pod." + std::string(field) + "[" + std::to_string(index) + "]"; }

std::string refuse_number(std::size_t number, const PodPolicy& policy) {
  if (std::cmp_less_equal(number, policy.max_ephemeral_containers)) return {};
  if (policy.max_ephemeral_containers == 0)
    return "pods of the tenant may have no ephemeral containers" + std::string(way_out);
  return "spec.pod." + std::string(field) + " has " + std::to_string(number) + " entries, and pods of the tenant may " +
         "have " + std::to_string(policy.max_ephemeral_containers) + std::string(way_out);
}

std::string refuse_names(const json::object& pod, std::size_t from) {
  const json::array& entries = kube::array_at(pod, {field});
  std::set<std::string_view> taken;
  for (std::string_view list : {std::string_view("containers"), std::string_view("initContainers")})
    for (const json::value& container : kube::array_at(pod, {list})) taken.insert(kube::string_at(container, {"name"}));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string_view name = kube::string_at(entries[i], {"name"});
    const bool is_free = taken.insert(name).second;
    if (i < from) continue;
    if (name.empty()) return at(i) + ".name is missing";
    if (!is_free) return at(i) + ".name " + in_quotes(name) + " is the name of another container of the pod";
  }
  return {};
}

}  // namespace

std::string refuse_ephemeral(const json::object& before, const json::object& after, const PodPolicy& policy) {
  const json::array& had = kube::array_at(before, {field});
  const json::array& has = kube::array_at(after, {field});
  for (std::size_t i = 0; i < had.size(); ++i)
    if (i >= has.size() || had[i] != has[i])
      return at(i) +
             " cannot be changed or removed: ephemeral containers can only be added, behind those that are there";
  if (has.size() == had.size()) return {};
  if (std::string problem = refuse_number(has.size(), policy); !problem.empty()) return problem;
  return refuse_names(after, had.size());
}

bool adds_ephemeral(const json::object& before, const json::object& after) {
  return kube::array_at(after, {field}).size() > kube::array_at(before, {field}).size();
}

}  // namespace liqo::core::admission
