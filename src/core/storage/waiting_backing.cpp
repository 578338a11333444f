#include "core/storage/waiting_backing.hpp"

#include <chrono>
#include <string_view>

#include "liqo/api/annotations.hpp"

namespace liqo::core::storage {
namespace {

constexpr kube::Duration silence = std::chrono::seconds(20);

}  // namespace

bool reports_waiting(const kube::json::value& event) {
  const std::string_view reason = kube::string_at(event, {"reason"});
  return reason == "WaitForFirstConsumer" || reason == "WaitForPodScheduled";
}

bool waits_silently(const kube::Object& backing, kube::Duration waited) {
  return waited >= silence && backing.annotation(api::annotations::volume_provisioner).empty();
}

}  // namespace liqo::core::storage
