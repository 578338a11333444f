// Keys, certificate requests and certificates as PEM text: what serving certificates need, those that a cluster signs
// and those of an authority of one's own.
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
  /// The subject has fields besides O and one CN, or there are alternative names that are neither IP addresses nor DNS
  /// names.
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
/// A certificate for servers and clients, signed by its own key, valid from an hour before `now`. Errors:
/// Errc::tls, Errc::invalid_input (an IP address that is none).
Result<KeyAndCertificate> make_self_signed(const CertificateSubject& subject, WallTime now, Duration validity);
/// A new authority: a certificate with that common name that may sign others (of servers and clients, not of further
/// authorities), valid from `backdating` before `now`. Errors: Errc::tls.
Result<KeyAndCertificate> make_authority(std::string_view common_name, WallTime now, Duration validity);
/// A certificate for servers, with a new key, signed by the authority and valid from `backdating` before `now`. Errors:
/// Errc::tls, Errc::parse (the authority cannot be read), Errc::invalid_input (an IP address that is none).
Result<KeyAndCertificate> issue_server_certificate(const KeyAndCertificate& authority,
                                                   const CertificateSubject& subject, WallTime now, Duration validity);
/// How long before it is made a certificate becomes valid, for clocks that are slow.
inline constexpr Duration backdating = std::chrono::hours(1);
/// The certificates of a PEM text, one text each, without what is between them. At most 64.
std::vector<std::string> split_certificates(std::string_view pem);
/// True if the first certificate of `certificate_pem` has a valid signature by the key of that of `authority_pem`.
/// Errors: Errc::parse.
Result<bool> is_signed_by(std::string_view certificate_pem, std::string_view authority_pem);
/// Reads the first certificate of a PEM text. Errors: Errc::parse.
Result<CertificateInfo> read_certificate(std::string_view certificate_pem);
/// Reads a PKCS#10 request and checks that its sender holds its key. Errors: Errc::parse.
Result<CertificateRequestInfo> read_certificate_request(std::string_view request_pem);
/// True if the key belongs to the first certificate. Errors: Errc::parse.
Result<bool> key_matches(std::string_view key_pem, std::string_view certificate_pem);

}  // namespace kube::net
