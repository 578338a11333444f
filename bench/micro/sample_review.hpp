// The admission review that is measured.
#pragma once

#include <string>
#include <string_view>

namespace bench {

/// Who creates the ShadowPod.
inline constexpr std::string_view sample_user = "pool-1f00";

/// The AdmissionReview that the validating webhook gets when a consumer creates the ShadowPod of the sample pod.
std::string sample_review();

}  // namespace bench
