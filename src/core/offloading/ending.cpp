#include "core/offloading/ending.hpp"

#include <algorithm>
#include <string>

#include "kube/base/scalar.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// The grace of a pod that is being deleted.
std::int64_t pending_grace(const kube::Object& pod) {
  return kube::int_at(pod.metadata(), {"deletionGracePeriodSeconds"}, own_grace(pod.spec()));
}

}  // namespace

std::int64_t own_grace(const json::object& pod_spec) {
  return kube::int_at(pod_spec, {"terminationGracePeriodSeconds"}, default_grace);
}

bool outlives(const kube::Object& pod, std::int64_t seconds) {
  return !pod.is_deleting() || pending_grace(pod) > seconds;
}

bool ends_later(const kube::Object& pod, std::int64_t seconds) {
  return !api::is_final_phase(api::phase_of(pod)) && pending_grace(pod) > seconds;
}

std::optional<std::int64_t> asked_grace(const kube::Object& local, const kube::Object& remote) {
  // Kubernetes deletes a finished pod with a grace of 0, which says nothing about how its containers at the provider
  // are to end.
  if (!local.is_deleting() || api::is_final_phase(api::phase_of(local)) || api::is_final_phase(api::phase_of(remote)))
    return std::nullopt;
  const std::int64_t asked = pending_grace(local);
  if (asked == own_grace(local.spec())) return std::nullopt;
  // A grace of 0 would remove the Pod from the API while its containers still run unseen.
  const std::int64_t seconds = std::max<std::int64_t>(asked, 1);
  return outlives(remote, seconds) ? std::optional(seconds) : std::nullopt;
}

std::optional<std::int64_t> ordered_grace(const kube::Object& shadow) {
  const auto seconds = kube::read_number<std::int64_t>(shadow.annotation(api::annotations::ending_grace));
  return seconds ? std::optional(std::max<std::int64_t>(*seconds, 1)) : std::nullopt;
}

json::object grace_patch(const kube::Object& shadow, std::int64_t seconds) {
  json::object changes;
  changes[api::annotations::ending_grace] = std::to_string(seconds);
  return {{"metadata", json::object{{"uid", shadow.uid()}, {"annotations", std::move(changes)}}}};
}

}  // namespace liqo::core
