// The file that a kubelet writes of all labels or all annotations of a pod.
#pragma once

#include <string>

#include "kube/base/json.hpp"

namespace liqo::core {

/// One line `key="value"` an entry, in the order of the keys, without a line break at the end. Values are quoted and
/// escaped as by Go's strconv.Quote (k8s.io/kubernetes/pkg/fieldpath, FormatMap); characters that Unicode has not
/// assigned stay as they are. Entries that are no texts are left out.
std::string downward_text(const kube::json::object& entries);

}  // namespace liqo::core
