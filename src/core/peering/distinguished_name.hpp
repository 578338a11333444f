// The subject of requests and certificates: one organization and one common name, nothing else.
#pragma once

#include <string>
#include <string_view>

#include "liqo/core/peering/csr.hpp"

namespace liqo::core {

/// The Name (RFC 5280 section 4.1.2.4) in DER.
std::string write_name(const CertificateName& name);

/// Reads the content of a Name's sequence. Errors: Errc::invalid_input; anything but one O and one CN.
kube::Result<CertificateName> read_name(std::string_view content);

}  // namespace liqo::core
