#include "core/offloading/order.hpp"

#include "liqo/api/annotations.hpp"

namespace liqo::core {

void stamp_order(kube::Object& shadow, kube::WallTime now) {
  shadow.set_annotation(api::annotations::ordered_at, kube::format_time(now));
}

bool is_timely(const kube::Object& shadow) {
  if (!shadow.has_annotation(api::annotations::ordered_at)) return true;
  const auto ordered = kube::parse_time(shadow.annotation(api::annotations::ordered_at));
  const auto created = kube::parse_time(kube::string_at(shadow.tree(), {"metadata", "creationTimestamp"}));
  if (!ordered || !created) return false;
  const auto lag = *created - *ordered;
  return -order_lag <= lag && lag <= order_lag;
}

bool may_be_carried_out(const kube::Failure& failure) {
  switch (failure.code()) {
    case kube::Errc::api:
      return failure.http_code() >= 500;
    case kube::Errc::invalid_input:
    case kube::Errc::connect:
    case kube::Errc::tls:
    case kube::Errc::unsupported:
    case kube::Errc::missing:
      return false;
    default:
      return true;
  }
}

}  // namespace liqo::core
