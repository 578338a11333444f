#include "core/quota/demand.hpp"

#include <set>

namespace liqo::core {
namespace {

/// What the containers of a pod are checked against.
struct Demanded {
  Enforcement enforcement;
  Counting counting;
  const Resources& pod_level;  ///< what the pod requests as a whole
};

std::optional<std::string> check_container(const ContainerNeeds& container, std::string_view what,
                                           const Demanded& demanded) {
  const auto& [enforcement, counting, pod_level] = demanded;
  const std::string subject = std::string(what) + (container.name.empty() ? "" : " " + container.name);
  const Needs& needs = container.needs;
  for (std::string_view name : {"cpu", "memory"}) {
    const auto requested = needs.requests.find(name);
    const bool open = requested == needs.requests.end() || (counting == Counting::exact && requested->second.is_zero());
    if (open && amount(pod_level, name).is_zero())
      return subject + " requests no " + std::string(name) + ", which this quota demands (Soft and Hard): set " +
             "resources.requests." + std::string(name);
  }
  if (enforcement != Enforcement::hard) return std::nullopt;
  std::set<std::string_view> names;
  for (const auto& [name, quantity] : needs.requests) names.insert(name);
  if (counting == Counting::exact)
    for (const auto& [name, quantity] : needs.limits) names.insert(name);
  for (std::string_view name : names) {
    const kube::Quantity request = amount(needs.requests, name), limit = amount(needs.limits, name);
    if (request == limit) continue;
    return subject + " requests " + request.text() + " " + std::string(name) + " and is limited to " +
           (needs.limits.contains(name) ? limit.text() : std::string("nothing")) +
           "; this quota demands equal requests and limits (Hard)";
  }
  return std::nullopt;
}

/// The peak of init containers as the Go version computes it: a later amount replaces an earlier one only if it is
/// larger in whole units.
void raise_whole(Resources& peak, const Resources& other) {
  for (const auto& [name, quantity] : other) {
    const auto [at, added] = peak.emplace(name, quantity);
    if (!added && at->second.value() < quantity.value()) at->second = quantity;
  }
}

}  // namespace

Enforcement parse_enforcement(std::string_view text) {
  if (text == "None") return Enforcement::none;
  return text.empty() || text == "Soft" ? Enforcement::soft : Enforcement::hard;
}

std::optional<std::string> check_enforcement(const PodNeeds& needs, Enforcement enforcement, Counting counting) {
  if (needs.containers.empty()) return "the pod has no containers";
  if (enforcement == Enforcement::none) return std::nullopt;
  const Resources none;
  const bool has_pod_level = counting == Counting::exact && needs.pod;
  const Demanded demanded{
      .enforcement = enforcement, .counting = counting, .pod_level = has_pod_level ? needs.pod->requests : none};
  for (const ContainerNeeds& container : needs.containers)
    if (auto problem = check_container(container, "container", demanded)) return problem;
  for (const ContainerNeeds& container : needs.init_containers)
    if (auto problem = check_container(container, "init container", demanded)) return problem;
  if (enforcement != Enforcement::hard || !has_pod_level) return std::nullopt;
  return check_container({"", *needs.pod, false}, "the pod as a whole", demanded);
}

Resources pod_demand(const PodNeeds& needs, Counting counting) {
  if (counting == Counting::exact) {
    Resources demand = pod_requests(needs);
    if (needs.pod) {
      // A cluster without pod-level resources (off by default before Kubernetes 1.34) drops them and reserves what the
      // containers request. In a cluster that has them they are at least as much, so counting the larger changes
      // nothing there.
      PodNeeds containers_only = needs;
      containers_only.pod.reset();
      raise(demand, pod_requests(containers_only));
    }
    demand["pods"] = kube::Quantity(1);
    return demand;
  }
  Resources demand, peak;
  for (const ContainerNeeds& container : needs.containers) add(demand, container.needs.requests);
  for (const ContainerNeeds& container : needs.init_containers) raise_whole(peak, container.needs.requests);
  raise(demand, peak);
  return demand;
}

}  // namespace liqo::core
