// The pods by which `liqoctl move volume` carries data: how they are marked, and known.
// Tested by test/unit/core/storage/volume_carrier_test.cpp.
#pragma once

#include <array>
#include <string_view>

#include "kube/base/json.hpp"

namespace liqo::core::storage {

/// Their labels: some that everybody uses, because providers refuse others.
inline constexpr std::string_view carrier_label = "app.kubernetes.io/component", carries_volume = "volume-carrier",
                                  manager_label = "app.kubernetes.io/managed-by", managed_by_liqoctl = "liqoctl";

/// What they run.
inline constexpr std::array<std::string_view, 3> carrier_command{"/usr/bin/liqoctl", "volume", "hold"};

/// Whether the pod says that it is one: by its labels, by a container that runs the command, by a claim, and by a
/// deadline after which nothing of it is left. Anybody may write such a pod: where it matters, its creator is checked
/// for the right to move volumes. Therefore a pod that has an owner is none. Its creator is a controller with rights of
/// its own, and not the user who wanted the pod.
bool is_volume_carrier(const kube::json::object& pod);

}  // namespace liqo::core::storage
