// The decoded value of a key of a Secret.
#pragma once

#include <string>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The decoded bytes of a key of a Secret, from `data`; "" if absent or not base64.
std::string secret_bytes(const kube::Object& secret, std::string_view key);

}  // namespace liqo::core
