// The subject of certificates and their requests: one organization and one common name.
// Tested by test/unit/core/peering/csr_test.cpp and test/unit/core/peering/strict_csr_test.cpp.
#pragma once

#include "core/peering/csr.hpp"
#include "core/peering/libcrypto.hpp"

namespace liqo::core {

/// O, then CN, each PrintableString if its characters allow, else UTF8String; a value that is not UTF-8
/// shows when the request is made. Null if libcrypto has no memory.
libcrypto::Name write_name(const CertificateName& name);
/// Errors: Errc::invalid_input, with a sentence whose subject the caller adds, for every name that does not have
/// exactly these two parts or is not DER.
kube::Result<CertificateName> read_name(const X509_NAME& name);

}  // namespace liqo::core
