// How the Quota of a pod is found: by the user who has created its ShadowPod.
#pragma once

#include <string>
#include <string_view>

namespace liqo::core {

/// A user's name as the value of the creator label, by which its Quota is found: each character that is not a letter, a
/// digit, '_', '-' or '.' becomes '-'.
std::string escape_user(std::string_view user);

}  // namespace liqo::core
