// Keys, certificate requests and certificates as PEM text: what a kubelet's serving certificate needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/base/failure.hpp"
#include "kube/base/time.hpp"

namespace kube::net {

/// Whom a certificate is for.
struct CertificateSubject {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> ip_addresses;  ///< subject alternative names
  std::vector<std::string> dns_names;     ///< subject alternative names
  bool operator==(const CertificateSubject&) const = default;
};

/// What a certificate says.
struct CertificateInfo {
  CertificateSubject subject;
  WallTime not_before;
  WallTime not_after;
};

/// What a certificate request asks for.
struct CertificateRequestInfo {
  CertificateSubject subject;
  /// Also other fields of the subject than O and one CN, or alternative names that are neither IP address nor DNS name.
  bool has_other_names = false;
};

struct KeyAndCertificate {
  std::string key_pem;
  std::string certificate_pem;
};

/// A new ECDSA P-256 key as PKCS#8 PEM. Errors: Errc::tls.
Result<std::string> make_key();
/// A PKCS#10 request for that subject, signed by the key. Errors: Errc::tls, Errc::invalid_input (an IP address that is
/// none).
Result<std::string> make_certificate_request(std::string_view key_pem, const CertificateSubject& subject);
/// A certificate for servers and clients, signed by its own key, valid from an hour before `now`.
Result<KeyAndCertificate> make_self_signed(const CertificateSubject& subject, WallTime now, Duration validity);
/// Reads the first certificate of a PEM text. Errors: Errc::parse.
Result<CertificateInfo> read_certificate(std::string_view certificate_pem);
/// Reads a PKCS#10 request and checks that its sender holds its key. Errors: Errc::parse.
Result<CertificateRequestInfo> read_certificate_request(std::string_view request_pem);
/// True if the key belongs to the first certificate. Errors: Errc::parse.
Result<bool> key_matches(std::string_view key_pem, std::string_view certificate_pem);

}  // namespace kube::net
