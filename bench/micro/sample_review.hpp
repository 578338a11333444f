// The admission review that is measured.
#pragma once

#include <string>
#include <string_view>

namespace bench {

/// The user who creates the ShadowPod.
inline constexpr std::string_view sample_user = "pool-1f00";

/// The AdmissionReview for the validating webhook when a consumer creates the ShadowPod of the sample pod.
std::string sample_review();

}  // namespace bench
