// PEM (RFC 7468) as keys, requests and certificates come in.
// Tested by test/unit/core/peering/keys_test.cpp and test/unit/core/peering/csr_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace liqo::core {

struct PemBlock {
  std::string type;       ///< e.g. "PUBLIC KEY"
  std::string der;        ///< the decoded bytes
  std::string_view rest;  ///< of the text, after the end of the line that ends the block
};

/// The first block of a text; text before it is skipped. Nothing if there is none, or its base64 is broken.
std::optional<PemBlock> read_pem(std::string_view text);

/// Lines of 64 characters, and a newline at the end.
std::string write_pem(std::string_view type, std::string_view der);

}  // namespace liqo::core
