// Base64 (RFC 4648 section 4) as Secrets and kubeconfigs use it.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/failure.hpp"

namespace kube {

/// Encodes with padding, without line breaks.
std::string encode_base64(std::string_view bytes);
/// Decodes padded base64; line breaks and spaces are skipped. Errors: Errc::parse.
Result<std::string> decode_base64(std::string_view text);

}  // namespace kube
