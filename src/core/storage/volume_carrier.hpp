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
/// deadline after which nothing of it is left. Anybody may say so. Who may move volumes is asked where it matters, of
/// whoever creates the pod; so a pod that has an owner is none, since its creator is a controller that has rights of
/// its own, and not whoever wanted the pod.
bool is_volume_carrier(const kube::json::object& pod);

}  // namespace liqo::core::storage
