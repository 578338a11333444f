// Certificate signing requests (PKCS#10, RFC 2986) as clusters send them to each other, byte for byte, and the strict
// reading of those that come from elsewhere. Pure.
#pragma once

#include <string>
#include <string_view>

#include "core/peering/keys.hpp"

namespace liqo::core {

/// Whom a certificate makes its holder: Kubernetes takes the common name for the user and each organization for a
/// group.
struct CertificateName {
  std::string common_name;
  std::string organization;
  bool operator==(const CertificateName&) const = default;
};

/// Of the ControlPlane certificate: user `<consumer>`, group `liqo.io`.
CertificateName control_plane_name(std::string_view consumer);
/// Of a slice's certificate: user `<slice>-<12 hex digits>`, group `<consumer>`.
CertificateName slice_name(std::string_view slice, std::string_view consumer);

/// A request in PEM: version 0, O then CN (each PrintableString if its characters allow, else UTF8String), no
/// attributes. Equal arguments give equal bytes, except with ECDSA keys; providers compare the bytes. The common name
/// may have more than the 64 characters of X.509's upper bound.
kube::Result<std::string> make_signing_request(const PrivateKey& key, const CertificateName& name);

/// A request for a key alone, in DER: it names nobody. Kubelets make such requests for pods (KEP-4317).
kube::Result<std::string> make_empty_request(const PrivateKey& key);

/// What a request asks for.
struct SigningRequest {
  CertificateName name;
  PublicKey key;
};

/// Reads a request of at most 16 KiB and refuses everything that would make its certificate say more than one user and
/// one group. A request has exactly one O and one CN, no other part of the subject, no attributes (so no alternative
/// names and no extensions), nothing after the PEM block, and a signature by its own key. Errors: Errc::invalid_input
/// with a sentence that says what is wrong, and those of PublicKey::from_der().
kube::Result<SigningRequest> read_signing_request(std::string_view pem);

/// Reads a request as strictly as read_signing_request(), with the same errors, and refuses one that is not for exactly
/// that name and, if `key` is given, that key.
kube::Result<void> check_signing_request(std::string_view pem, const CertificateName& name, const PublicKey* key);

}  // namespace liqo::core
