// The heartbeat of a consumer: a Lease in its tenant namespace at the provider. A provider that is configured to watch
// it cordons a consumer that has been silent for too long.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The name of the Lease. The provider makes it, so that the consumer needs the right to change this one and no other.
inline constexpr std::string_view heartbeat_lease = "liqo-heartbeat";
/// Annotation of a Tenant: a heartbeat that is far ahead, a space, and when the provider saw it first.
inline constexpr std::string_view heartbeat_seen = "liqo.io/heartbeat-seen";
/// The time between two heartbeats.
inline constexpr kube::Duration heartbeat_interval = std::chrono::minutes(10);

/// The Lease without a heartbeat, owned by the Tenant.
kube::Object forge_heartbeat_lease(const kube::Object& tenant);
/// The JSON merge patch of a heartbeat.
kube::json::object heartbeat_patch(std::string_view consumer, kube::WallTime now);

namespace silence_action {
/// The tenant is not silent, or not for long enough: look at its Lease again after this time.
struct LookAgain {
  kube::Duration after;
};
/// The tenant has been silent for max_silence: cordon it (silence_patch).
struct Cordon {
  std::string last;   ///< the last heartbeat, as the consumer has written it
  std::string since;  ///< when it was heard, for people
};
}  // namespace silence_action

/// What is known of the heartbeat of an active tenant.
struct HeartbeatSight {
  const kube::Object& lease;
  const kube::Object& tenant;
  kube::WallTime now;
  kube::WallTime seen;  ///< when the last heartbeat was seen for the first time
};

/// What a provider does about the silence of an active tenant.
using SilencePlan = std::variant<silence_action::LookAgain, silence_action::Cordon>;
/// Looks at the heartbeat of an active tenant. `max_silence` is how long a consumer may be silent. A consumer without
/// any heartbeat, as all of the Go version are, is not silent. A heartbeat that is further ahead than that counts from
/// when it was seen, or its consumer would never be silent.
SilencePlan plan_silence(const HeartbeatSight& sight, kube::Duration max_silence);
/// When the heartbeat `last` was seen first, if that is kept on the Tenant and not in the future.
std::optional<kube::WallTime> kept_heartbeat(const kube::Object& tenant, std::string_view last, kube::WallTime now);
/// JSON merge patch of the Tenant, with its resourceVersion, that keeps when its heartbeat was seen first. If the
/// heartbeat is far ahead, that time would be lost with the process. Nothing if there is nothing to keep.
std::optional<kube::json::object> plan_kept_heartbeat(const HeartbeatSight& sight, kube::Duration max_silence);
/// JSON merge patch that cordons the Tenant, with its resourceVersion.
kube::json::object silence_patch(const kube::Object& tenant, std::string_view last);

}  // namespace liqo::core
