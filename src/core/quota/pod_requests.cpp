#include "core/quota/pod_requests.hpp"

#include <algorithm>
#include <utility>

#include "core/common/being_resized.hpp"

namespace liqo::core {
namespace {

constexpr std::string_view hugepages = "hugepages-";

bool is_pod_level(std::string_view name) { return name == "cpu" || name == "memory" || name.starts_with(hugepages); }

kube::Result<Needs> read_needs(const kube::json::object& resources) {
  Needs needs;
  KUBE_TRY(requests, read_resources(kube::object_at(resources, {"requests"})), "requests");
  KUBE_TRY(limits, read_resources(kube::object_at(resources, {"limits"})), "limits");
  needs.requests = std::move(requests);
  needs.limits = std::move(limits);
  return needs;
}

kube::Result<std::vector<ContainerNeeds>> read_containers(const kube::json::array& list, bool init) {
  std::vector<ContainerNeeds> out;
  out.reserve(list.size());
  for (const kube::json::value& container : list) {
    ContainerNeeds read;
    read.name = kube::string_at(container, {"name"});
    KUBE_TRY(needs, read_needs(kube::object_at(container, {"resources"})),
             (init ? "init container " : "container ") + read.name);
    read.needs = std::move(needs);
    read.sidecar = init && kube::string_at(container, {"restartPolicy"}) == "Always";
    out.push_back(std::move(read));
  }
  return out;
}

/// The sum over the containers and sidecars, or the peak while the init containers run.
Resources aggregate(const PodNeeds& needs, Resources Needs::* which) {
  Resources total;
  for (const ContainerNeeds& container : needs.containers) add(total, container.needs.*which);
  Resources sidecars, peak;
  for (const ContainerNeeds& container : needs.init_containers) {
    if (container.sidecar) {
      add(total, container.needs.*which);
      add(sidecars, container.needs.*which);
      raise(peak, sidecars);
    } else {
      Resources during = sidecars;
      add(during, container.needs.*which);
      raise(peak, during);
    }
  }
  raise(total, peak);
  return total;
}

/// The API server rounds amounts up to thousandths.
void round_to_milli(Resources& resources) {
  for (auto& [name, quantity] : resources) quantity = quantity.rounded_to_milli();
}

void fill(Resources& resources, const Resources& defaults) {
  for (const auto& [name, quantity] : defaults) resources.emplace(name, quantity);
}

void default_pod_level(PodNeeds& needs) {
  if (!needs.pod) return;
  Needs& pod = *needs.pod;
  if (pod.requests.empty() && pod.limits.empty()) return;
  for (const auto& [name, quantity] : aggregate(needs, &Needs::limits))
    if (name.starts_with(hugepages) && !pod.requests.contains(name)) pod.limits.emplace(name, quantity);
  if (pod.limits.empty()) return;
  for (const auto& [name, quantity] : aggregate(needs, &Needs::requests))
    if (name == "cpu" || name == "memory") pod.requests.emplace(name, quantity);
  for (const auto& [name, quantity] : pod.limits)
    if (is_pod_level(name)) pod.requests.emplace(name, quantity);
}

/// `status`: that of a container, or of a Pod as a whole.
void raise_to(Resources& requests, const kube::json::value& status, bool is_changing) {
  if (const auto set_aside = read_resources(kube::object_at(status, {"allocatedResources"})))
    raise(requests, *set_aside);
  // `resources` in the status is read from the cgroup, which rounds, so it counts only while a resize is under way.
  const auto actual = read_resources(kube::object_at(status, {"resources", "requests"}));
  if (is_changing && actual) raise(requests, *actual);
}

void raise_to(std::vector<ContainerNeeds>& containers, const kube::Object& pod, std::string_view list) {
  const bool is_changing = is_being_resized(pod);
  for (const kube::json::value& status : kube::array_at(pod.status(), {list})) {
    const auto named = std::ranges::find(containers, kube::string_at(status, {"name"}), &ContainerNeeds::name);
    if (named != containers.end()) raise_to(named->needs.requests, status, is_changing);
  }
}

}  // namespace

void raise_to_allocated(PodNeeds& needs, const kube::Object& pod) {
  raise_to(needs.containers, pod, "containerStatuses");
  raise_to(needs.init_containers, pod, "initContainerStatuses");
  if (!needs.pod) return;
  // Resources that the pod does not request as a whole are counted by container.
  Resources whole = needs.pod->requests;
  raise_to(whole, pod.status(), is_being_resized(pod));
  for (auto& [name, quantity] : needs.pod->requests) quantity = amount(whole, name);
}

kube::Result<PodNeeds> read_pod_needs(const kube::json::object& pod_spec) {
  PodNeeds needs;
  KUBE_TRY(containers, read_containers(kube::array_at(pod_spec, {"containers"}), false));
  KUBE_TRY(init, read_containers(kube::array_at(pod_spec, {"initContainers"}), true));
  needs.containers = std::move(containers);
  needs.init_containers = std::move(init);
  if (const kube::json::value* resources = kube::find(pod_spec, {"resources"}); resources && resources->is_object()) {
    KUBE_TRY(pod, read_needs(resources->get_object()), "the pod's resources");
    needs.pod = std::move(pod);
  }
  KUBE_TRY(overhead, read_resources(kube::object_at(pod_spec, {"overhead"})), "overhead");
  needs.overhead = std::move(overhead);
  return needs;
}

void apply_defaults(PodNeeds& needs) {
  for (ContainerNeeds& container : needs.containers) fill(container.needs.requests, container.needs.limits);
  for (ContainerNeeds& container : needs.init_containers) fill(container.needs.requests, container.needs.limits);
  default_pod_level(needs);
  // Rounding comes last, as in the API server: pod-level requests are computed from amounts that are not rounded yet.
  const auto round = [](Needs& of) {
    round_to_milli(of.requests);
    round_to_milli(of.limits);
  };
  for (ContainerNeeds& container : needs.containers) round(container.needs);
  for (ContainerNeeds& container : needs.init_containers) round(container.needs);
  if (needs.pod) round(*needs.pod);
  round_to_milli(needs.overhead);
}

kube::Result<Needs> limit_range_defaults(const kube::json::object& limit_range_spec) {
  Needs defaults;
  for (const kube::json::value& item : kube::array_at(limit_range_spec, {"limits"})) {
    if (kube::string_at(item, {"type"}) != "Container") continue;
    Resources fields[4];
    constexpr std::string_view names[] = {"default", "max", "defaultRequest", "min"};
    for (std::size_t i = 0; i < 4; ++i) {
      KUBE_TRY(read, read_resources(kube::object_at(item, {names[i]})), names[i]);
      fields[i] = std::move(read);
      round_to_milli(fields[i]);
    }
    auto& [limits, most, requests, least] = fields;
    fill(limits, most);
    fill(requests, limits);
    fill(requests, least);
    // If several items are for containers, Kubernetes uses the last one.
    for (const auto& [name, quantity] : limits) defaults.limits[name] = quantity;
    for (const auto& [name, quantity] : requests) defaults.requests[name] = quantity;
  }
  return defaults;
}

void apply_limit_range(PodNeeds& needs, const Needs& defaults) {
  const auto apply = [&defaults](ContainerNeeds& container) {
    fill(container.needs.limits, defaults.limits);
    fill(container.needs.requests, defaults.requests);
  };
  for (ContainerNeeds& container : needs.containers) apply(container);
  for (ContainerNeeds& container : needs.init_containers) apply(container);
}

Resources pod_requests(const PodNeeds& needs) {
  Resources total = aggregate(needs, &Needs::requests);
  if (needs.pod)
    for (const auto& [name, quantity] : needs.pod->requests)
      if (is_pod_level(name)) total[name] = quantity;
  add(total, needs.overhead);
  return total;
}

void settle(PodNeeds& needs, const PodAdditions& additions) {
  std::optional<PodNeeds> late;
  if (needs.pod && !additions.limit_ranges.empty()) late = needs;
  apply_defaults(needs);
  for (const Needs& defaults : additions.limit_ranges) apply_limit_range(needs, defaults);
  if (additions.overhead) needs.overhead = *additions.overhead;
  // The API server applies defaults again to what it reads from storage.
  apply_defaults(needs);
  if (!late) return;
  // API servers since 1.37 fill in the amounts of the pod as a whole only after the LimitRanges.
  std::optional<Needs> whole = std::exchange(late->pod, std::nullopt);
  apply_defaults(*late);
  for (const Needs& defaults : additions.limit_ranges) apply_limit_range(*late, defaults);
  late->pod = std::move(whole);
  apply_defaults(*late);
  raise(needs.pod->requests, late->pod->requests);
}

}  // namespace liqo::core
