// Certificates in PEM as a kubelet writes them into files: without what stands between them. Pure.
// Tested by test/unit/core/offloading/trust_bundles_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace liqo::core {

/// What the PEM blocks of a text hold, in their order. What is no base64 is left out.
std::vector<std::string> read_certificates(std::string_view text);
/// One block for each, in lines of 64 characters.
std::string write_certificates(const std::vector<std::string>& certificates);

}  // namespace liqo::core
