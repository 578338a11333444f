#include "core/usage/api_service_plan.hpp"

#include "kube/k8s/condition.hpp"

namespace liqo::core {
namespace {

using namespace std::chrono_literals;
using Stored = ApiServiceSnapshot::Stored;

/// How long it may be silent: the first if it has answered before, the second if it has not yet.
constexpr kube::Duration patience = 3min, trial = 1min;
constexpr kube::Duration until_next_trial = 1h;
/// There is no notice when this process becomes ready.
constexpr kube::Duration until_ready = 5s;

ApiServicePlan plan_missing(const ApiServiceSnapshot& snapshot, ApiServiceMemory memory, kube::TimePoint now) {
  if (memory.withdrawn && now - *memory.withdrawn < until_next_trial)
    return {.memory = memory, .again = until_next_trial - (now - *memory.withdrawn)};
  if (!snapshot.is_ready) return {.memory = memory, .again = until_ready};
  return {.step = ApiServiceStep::write, .memory = {.is_on_trial = true, .silent_since = now}, .again = trial};
}

ApiServicePlan plan_silent(const ApiServiceSnapshot& snapshot, ApiServiceMemory memory, kube::TimePoint now) {
  const ApiServiceStep step = snapshot.is_right ? ApiServiceStep::leave : ApiServiceStep::write;
  if (!snapshot.is_ready) return {.step = step, .memory = {.is_on_trial = memory.is_on_trial}, .again = until_ready};
  // An APIService that has answered before waits for the next replica, as all of Kubernetes does.
  if (snapshot.answers == ApiServiceAnswers::no_endpoints && !memory.is_on_trial) return {.step = step};
  if (!memory.silent_since) memory.silent_since = now;
  const kube::Duration left = (memory.is_on_trial ? trial : patience) - (now - *memory.silent_since);
  if (left <= kube::Duration::zero())
    return {.step = ApiServiceStep::withdraw, .memory = {.withdrawn = now}, .again = until_next_trial};
  return {.step = step, .memory = memory, .again = left};
}

}  // namespace

ApiServiceAnswers read_available(const kube::Object& api_service) {
  const kube::json::object* available = kube::find_condition(api_service.status(), "Available");
  if (!available) return ApiServiceAnswers::no;
  if (kube::string_at(*available, {"status"}) == "True") return ApiServiceAnswers::yes;
  return kube::string_at(*available, {"reason"}) == "MissingEndpoints" ? ApiServiceAnswers::no_endpoints
                                                                       : ApiServiceAnswers::no;
}

ApiServicePlan plan_api_service(const ApiServiceSnapshot& snapshot, ApiServiceMemory memory, kube::TimePoint now) {
  if (snapshot.stored == Stored::others || snapshot.stored == Stored::going) return {.memory = memory};
  const bool is_there = snapshot.stored == Stored::ours;
  if (snapshot.is_namespace_going)
    return {.step = is_there ? ApiServiceStep::remove_with_namespace : ApiServiceStep::leave};
  if (!snapshot.has_front_proxy)
    return {.step = is_there ? ApiServiceStep::remove_without_front_proxy : ApiServiceStep::leave};
  if (!is_there) return plan_missing(snapshot, memory, now);
  if (snapshot.answers == ApiServiceAnswers::yes)
    return {.step = snapshot.is_right ? ApiServiceStep::leave : ApiServiceStep::write};
  return plan_silent(snapshot, memory, now);
}

}  // namespace liqo::core
