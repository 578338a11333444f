// The heartbeat of a consumer: a Lease in its tenant namespace at the provider, by which a provider that asks for it
// notices that nobody is there any more.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The name of the Lease. The provider makes it, so that the consumer needs the right to change this one and no other.
inline constexpr std::string_view heartbeat_lease = "liqo-heartbeat";
/// On a Tenant: the last heartbeat before it was cordoned for its silence. A tenant that somebody
/// uncordons is not cordoned again for the same silence.
inline constexpr std::string_view silent_since_annotation = "liqo.io/cordoned-silent-since";
/// Between two heartbeats; silence is a matter of days.
inline constexpr kube::Duration heartbeat_interval = std::chrono::minutes(10);

/// The Lease, without a heartbeat yet; goes with the Tenant.
kube::Object forge_heartbeat_lease(const kube::Object& tenant);
/// JSON merge patch by which the consumer says that it is there.
kube::json::object heartbeat_patch(std::string_view consumer, kube::WallTime now);

namespace silence_action {
struct LookAgain {
  kube::Duration after;
};
struct Cordon {
  std::string last;  ///< the last heartbeat
};
}  // namespace silence_action

/// What a provider makes of the silence of an active tenant.
using SilencePlan = std::variant<silence_action::LookAgain, silence_action::Cordon>;
/// `limit` is how long it may be silent. Who has never beaten, such as every consumer of the Go version, is not silent.
SilencePlan plan_silence(const kube::Object& lease, const kube::Object& tenant, kube::WallTime now,
                         kube::Duration limit);
/// JSON merge patch that cordons the Tenant, with its resourceVersion.
kube::json::object silence_patch(const kube::Object& tenant, std::string_view last);

}  // namespace liqo::core
