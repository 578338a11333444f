// Pods that somebody creates with what liqod once wrote on another pod: a backup has it.
#pragma once

#include "core/admission/review.hpp"

namespace liqo::core::admission {

/// Appends the operations that take off a new pod what liqod alone writes on pods (core::is_written_label,
/// core::is_written_annotation): the pod whose status an earlier pod showed, its count of restarts, the mark of an
/// offloaded pod. Keys that users may set stay. Labels of a pod that has a controller stay, too: they are those of its
/// template, by which the controller knows its pods. A Pod that a provider made for a ShadowPod is not touched.
void take_off_marks(json::array& patch, const kube::Object& pod);

}  // namespace liqo::core::admission
