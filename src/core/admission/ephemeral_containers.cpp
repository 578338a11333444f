#include "core/admission/ephemeral_containers.hpp"

#include <initializer_list>
#include <set>
#include <string_view>
#include <utility>

#include "core/common/names.hpp"
#include "kube/base/printable.hpp"

namespace liqo::core::admission {
namespace json = kube::json;
namespace {

constexpr std::string_view field = "ephemeralContainers";
constexpr std::string_view way_out = " (maxEphemeralContainers in the policy)";

std::string at(std::size_t index) { return "spec." + std::string(field) + "[" + std::to_string(index) + "]"; }

std::string refuse_number(std::size_t number, const PodPolicy& policy) {
  if (std::cmp_less_equal(number, policy.max_ephemeral_containers)) return {};
  if (policy.max_ephemeral_containers == 0)
    return "pods of the tenant may have no ephemeral containers" + std::string(way_out);
  return "spec." + std::string(field) + " has " + std::to_string(number) + " entries, and pods of the tenant may " +
         "have " + std::to_string(policy.max_ephemeral_containers) + std::string(way_out);
}

std::set<std::string_view> names_in(const json::object& pod, std::initializer_list<std::string_view> lists) {
  std::set<std::string_view> names;
  for (const std::string_view list : lists)
    for (const json::value& entry : kube::array_at(pod, {list})) names.insert(kube::string_at(entry, {"name"}));
  return names;
}

/// The provider's admission may have added containers and volumes to the Pod. The consumer may refer only to its own.
std::string refuse_references(const json::object& pod, std::size_t from) {
  const json::array& entries = kube::array_at(pod, {field});
  const auto containers = names_in(pod, {"containers", "initContainers"});
  const auto volumes = names_in(pod, {"volumes"});
  for (std::size_t i = from; i < entries.size(); ++i) {
    const std::string_view target = kube::string_at(entries[i], {"targetContainerName"});
    if (!target.empty() && !containers.contains(target))
      return at(i) + ".targetContainerName " + kube::in_quotes(target) + " is no container of the pod";
    for (const std::string_view list : {"volumeMounts", "volumeDevices"})
      for (const json::value& mount : kube::array_at(entries[i], {list}))
        if (const std::string_view name = kube::string_at(mount, {"name"}); !volumes.contains(name))
          return at(i) + "." + std::string(list) + " " + kube::in_quotes(name) + " is no volume of the pod";
  }
  return {};
}

std::string refuse_names(const json::object& pod, std::size_t from) {
  const json::array& entries = kube::array_at(pod, {field});
  std::set<std::string_view> taken = names_in(pod, {"containers", "initContainers"});
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string_view name = kube::string_at(entries[i], {"name"});
    const bool is_free = taken.insert(name).second;
    if (i < from) continue;
    if (name.empty()) return at(i) + ".name is missing";
    // The API server would refuse the name later, when the ShadowPod is stored already.
    if (!is_dns_label(name)) return at(i) + ".name " + kube::in_quotes(name) + " is no name of a container";
    if (!is_free) return at(i) + ".name " + kube::in_quotes(name) + " is the name of another container of the pod";
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
  if (std::string problem = refuse_names(after, had.size()); !problem.empty()) return problem;
  return refuse_references(after, had.size());
}

bool adds_ephemeral(const json::object& before, const json::object& after) {
  return kube::array_at(after, {field}).size() > kube::array_at(before, {field}).size();
}

}  // namespace liqo::core::admission
