#include "core/offloading/event_source.hpp"

#include <algorithm>

#include "kube/base/text.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::core {
namespace {

namespace reasons = api::reasons;

constexpr std::string_view of_reflection[] = {
    reasons::failed_reflection, reasons::reflection_disabled, reasons::address_left_out, reasons::failed_deletion,
    reasons::remote_warning,    reasons::copy_differs,        reasons::no_remote_address};

}  // namespace

std::string event_source(const kube::Resource& resource, std::string_view reason) {
  if (reason == reasons::failed_tokens) return "liqo-serviceaccount-reflection";
  const bool is_pod = resource == kube::resources::pods;
  if (!is_pod && std::ranges::find(of_reflection, reason) == std::end(of_reflection)) return "liqod";
  return "liqo-" + kube::lower_case(resource.kind) + "-reflection";
}

}  // namespace liqo::core
