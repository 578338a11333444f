#include "kube/net/tls/x509.hpp"

#include <arpa/inet.h>
#include <openssl/rand.h>

#include "kube/base/near_time.hpp"
#include "openssl.hpp"
#include "subject.hpp"

namespace kube::net {

namespace {

std::unexpected<Failure> tls_failure(std::string_view doing) {
  return fail(Errc::tls, std::string(doing) + ": " + openssl::take_error());
}

/// What `write` puts into a memory BIO.
template <class Write>
std::string written(Write write) {
  const openssl::Bio bio(BIO_new(BIO_s_mem()));
  write(bio.get());
  char* data = nullptr;
  const long length = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(length)};
}

std::string pem_of(EVP_PKEY* key) {
  return written([key](BIO* bio) { PEM_write_bio_PKCS8PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); });
}

bool add_names(X509_NAME* name, const CertificateSubject& subject) {
  const auto add = [name](const char* field, const std::string& value) {
    return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value.data()),
                                      static_cast<int>(value.size()), -1, 0) == 1;
  };
  for (const std::string& organization : subject.organizations)
    if (!add("O", organization)) return false;
  return add("CN", subject.common_name);
}

/// The subject alternative names as an extension; null if there are none.
Result<openssl::Extension> alternative_names(const CertificateSubject& subject) {
  if (subject.ip_addresses.empty() && subject.dns_names.empty()) return openssl::Extension();
  GENERAL_NAMES* names = sk_GENERAL_NAME_new_null();
  const std::unique_ptr<GENERAL_NAMES, openssl::Deleter<GENERAL_NAMES_free>> owner(names);
  for (const std::string& text : subject.ip_addresses) {
    ASN1_OCTET_STRING* address = a2i_IPADDRESS(text.c_str());
    if (address == nullptr) {
      ERR_clear_error();
      return fail(Errc::invalid_input, "'" + text + "' is not an IP address");
    }
    GENERAL_NAME* name = GENERAL_NAME_new();
    GENERAL_NAME_set0_value(name, GEN_IPADD, address);
    sk_GENERAL_NAME_push(names, name);
  }
  for (const std::string& text : subject.dns_names) {
    ASN1_IA5STRING* dns = ASN1_IA5STRING_new();
    ASN1_STRING_set(dns, text.data(), static_cast<int>(text.size()));
    GENERAL_NAME* name = GENERAL_NAME_new();
    GENERAL_NAME_set0_value(name, GEN_DNS, dns);
    sk_GENERAL_NAME_push(names, name);
  }
  openssl::Extension extension(X509V3_EXT_i2d(NID_subject_alt_name, 0, names));
  if (!extension) return tls_failure("subject alternative names");
  return extension;
}

std::string text_of(const ASN1_STRING* value) {
  unsigned char* utf8 = nullptr;
  const int length = ASN1_STRING_to_UTF8(&utf8, value);
  if (length < 0) {
    ERR_clear_error();
    return {};
  }
  std::string text(reinterpret_cast<char*>(utf8), static_cast<std::size_t>(length));
  OPENSSL_free(utf8);
  return text;
}

Result<WallTime> time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) {
    ERR_clear_error();
    return fail(Errc::parse, "certificate: a time that cannot be read");
  }
  const std::chrono::year_month_day day(std::chrono::year(parts.tm_year + 1900),
                                        std::chrono::month(static_cast<unsigned>(parts.tm_mon + 1)),
                                        std::chrono::day(static_cast<unsigned>(parts.tm_mday)));
  return near_time(std::chrono::sys_days(day) + std::chrono::hours(parts.tm_hour) + std::chrono::minutes(parts.tm_min) +
                   std::chrono::seconds(parts.tm_sec));
}

std::string format_address(std::string_view bytes) {
  char text[INET6_ADDRSTRLEN] = "";
  if (bytes.size() == 4) inet_ntop(AF_INET, bytes.data(), text, sizeof(text));
  if (bytes.size() == 16) inet_ntop(AF_INET6, bytes.data(), text, sizeof(text));
  return text;
}

/// Adds the fields of a name to the subject; true if there is one besides O and a single CN.
bool read_name(const X509_NAME* name, CertificateSubject& subject) {
  bool others = false;
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    const int kind = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
    std::string text = text_of(X509_NAME_ENTRY_get_data(entry));
    if (kind == NID_commonName) {
      others = others || !subject.common_name.empty();
      subject.common_name = std::move(text);
    } else if (kind == NID_organizationName) {
      subject.organizations.push_back(std::move(text));
    } else {
      others = true;
    }
  }
  return others;
}

/// Adds alternative names to the subject; true if there is one that is neither an IP address nor a DNS name.
bool read_alternative_names(const GENERAL_NAMES* names, CertificateSubject& subject) {
  bool others = false;
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names); ++i) {
    int kind = 0;
    const auto* value =
        static_cast<const ASN1_STRING*>(GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, i), &kind));
    if (kind != GEN_DNS && kind != GEN_IPADD) {
      others = true;
      continue;
    }
    const std::string_view bytes(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                                 static_cast<std::size_t>(ASN1_STRING_length(value)));
    if (kind == GEN_DNS) subject.dns_names.emplace_back(bytes);
    if (kind == GEN_IPADD) subject.ip_addresses.push_back(format_address(bytes));
  }
  return others;
}

using GeneralNames = std::unique_ptr<GENERAL_NAMES, openssl::Deleter<GENERAL_NAMES_free>>;

}  // namespace

CertificateSubject subject_of(const X509* certificate) {
  CertificateSubject subject;
  read_name(X509_get_subject_name(certificate), subject);
  const GeneralNames names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  read_alternative_names(names.get(), subject);
  ERR_clear_error();
  return subject;
}

Result<CertificateRequestInfo> read_certificate_request(std::string_view request_pem) {
  ERR_clear_error();
  const openssl::Bio bio = openssl::bio_of(request_pem);
  const openssl::CertificateRequest request(PEM_read_bio_X509_REQ(bio.get(), nullptr, openssl::no_passphrase, nullptr));
  if (!request) return fail(Errc::parse, "certificate request: " + openssl::take_error());
  // The requester must hold the key.
  if (X509_REQ_verify(request.get(), X509_REQ_get0_pubkey(request.get())) != 1)
    return fail(Errc::parse, "certificate request: its signature is not by its own key");
  CertificateRequestInfo info;
  info.has_other_names = read_name(X509_REQ_get_subject_name(request.get()), info.subject);
  struct FreeExtensions {
    void operator()(STACK_OF(X509_EXTENSION) * all) const { sk_X509_EXTENSION_pop_free(all, X509_EXTENSION_free); }
  };
  const std::unique_ptr<STACK_OF(X509_EXTENSION), FreeExtensions> extensions(X509_REQ_get_extensions(request.get()));
  int found = 0;
  const GeneralNames names(
      static_cast<GENERAL_NAMES*>(X509V3_get_d2i(extensions.get(), NID_subject_alt_name, &found, nullptr)));
  ERR_clear_error();
  // -1: there are none. Anything else without names is a second list, or one that cannot be read.
  if (!names && found != -1) return fail(Errc::parse, "certificate request: bad subject alternative names");
  info.has_other_names = read_alternative_names(names.get(), info.subject) || info.has_other_names;
  return info;
}

Result<std::string> make_key() {
  ERR_clear_error();
  const openssl::Key key(EVP_EC_gen("P-256"));
  if (!key) return tls_failure("making a key");
  return pem_of(key.get());
}

Result<std::string> make_certificate_request(std::string_view key_pem, const CertificateSubject& subject) {
  ERR_clear_error();
  const openssl::Key key = openssl::read_pem_key(key_pem);
  if (!key) return tls_failure("certificate request: private key");
  KUBE_TRY(names, alternative_names(subject), "certificate request");
  const openssl::CertificateRequest request(X509_REQ_new());
  if (!add_names(X509_REQ_get_subject_name(request.get()), subject)) return tls_failure("certificate request: subject");
  if (names) {
    STACK_OF(X509_EXTENSION)* extensions = sk_X509_EXTENSION_new_null();
    sk_X509_EXTENSION_push(extensions, names.get());
    const int added = X509_REQ_add_extensions(request.get(), extensions);
    sk_X509_EXTENSION_free(extensions);
    if (added != 1) return tls_failure("certificate request: extensions");
  }
  if (X509_REQ_set_pubkey(request.get(), key.get()) != 1 || X509_REQ_sign(request.get(), key.get(), EVP_sha256()) == 0)
    return tls_failure("certificate request");
  return written([&request](BIO* bio) { PEM_write_bio_X509_REQ(bio, request.get()); });
}

namespace {

/// What a certificate may be used for, as OpenSSL's configuration writes it.
struct Purpose {
  const char* constraints;
  const char* key_usage;
  const char* extended_usage;  ///< null = any
};

/// What a new certificate says.
struct Content {
  const CertificateSubject& subject;
  WallTime now;
  Duration validity;
  Purpose purpose;
};

struct Signer {
  EVP_PKEY* key;
  const X509* certificate;
};

/// A certificate for the public half of `key`; signed by `signer`, or by itself if there is none.
Result<std::string> sign_certificate(EVP_PKEY* key, const Content& content, const Signer* signer) {
  const auto& [subject, now, validity, purpose] = content;
  KUBE_TRY(names, alternative_names(subject), "certificate");
  const openssl::Certificate certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  unsigned char serial[16];
  if (RAND_bytes(serial, sizeof(serial)) != 1) return tls_failure("certificate: serial number");
  serial[0] &= 0x7f;
  const std::unique_ptr<BIGNUM, openssl::Deleter<BN_free>> number(BN_bin2bn(serial, sizeof(serial), nullptr));
  BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate.get()));
  const auto at = [](WallTime time) {
    return std::chrono::system_clock::to_time_t(
        std::chrono::time_point_cast<std::chrono::system_clock::duration>(time));
  };
  ASN1_TIME_set(X509_getm_notBefore(certificate.get()),
                at(now - std::chrono::duration_cast<std::chrono::microseconds>(backdating)));
  ASN1_TIME_set(X509_getm_notAfter(certificate.get()),
                at(now + std::chrono::duration_cast<std::chrono::microseconds>(validity)));
  if (!add_names(X509_get_subject_name(certificate.get()), subject)) return tls_failure("certificate: subject");
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer ? signer->certificate : certificate.get()));
  X509_set_pubkey(certificate.get(), key);
  const auto add = [&](int kind, const char* value) {
    if (!value) return true;
    X509V3_CTX context{};
    X509V3_set_ctx(&context, signer ? const_cast<X509*>(signer->certificate) : certificate.get(), certificate.get(),
                   nullptr, nullptr, 0);
    const openssl::Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value));
    return extension && X509_add_ext(certificate.get(), extension.get(), -1) == 1;
  };
  // Key identifiers distinguish authorities of one name.
  if (!add(NID_basic_constraints, purpose.constraints) || !add(NID_key_usage, purpose.key_usage) ||
      !add(NID_ext_key_usage, purpose.extended_usage) || !add(NID_subject_key_identifier, "hash") ||
      (signer && !add(NID_authority_key_identifier, "keyid:always")) ||
      (names && X509_add_ext(certificate.get(), names.get(), -1) != 1))
    return tls_failure("certificate: extensions");
  if (X509_sign(certificate.get(), signer ? signer->key : key, EVP_sha256()) == 0) return tls_failure("certificate");
  return written([&certificate](BIO* bio) { PEM_write_bio_X509(bio, certificate.get()); });
}

/// A new key and a certificate for it.
Result<KeyAndCertificate> make_pair(const Content& content, const Signer* signer) {
  const openssl::Key key(EVP_EC_gen("P-256"));
  if (!key) return tls_failure("making a key");
  KUBE_TRY(pem, sign_certificate(key.get(), content, signer));
  return KeyAndCertificate{.key_pem = pem_of(key.get()), .certificate_pem = std::move(pem)};
}

}  // namespace

Result<KeyAndCertificate> make_self_signed(const CertificateSubject& subject, WallTime now, Duration validity) {
  ERR_clear_error();
  return make_pair({subject,
                    now,
                    validity,
                    {.constraints = "critical,CA:FALSE",
                     .key_usage = "critical,digitalSignature",
                     .extended_usage = "serverAuth,clientAuth"}},
                   nullptr);
}

Result<KeyAndCertificate> make_authority(std::string_view common_name, WallTime now, Duration validity) {
  ERR_clear_error();
  CertificateSubject subject;
  subject.common_name = common_name;
  return make_pair({subject,
                    now,
                    validity,
                    {.constraints = "critical,CA:TRUE,pathlen:0",
                     .key_usage = "critical,keyCertSign,cRLSign",
                     .extended_usage = nullptr}},
                   nullptr);
}

Result<KeyAndCertificate> issue_server_certificate(const KeyAndCertificate& authority,
                                                   const CertificateSubject& subject, WallTime now, Duration validity) {
  ERR_clear_error();
  const openssl::Bio bio = openssl::bio_of(authority.certificate_pem);
  const openssl::Certificate certificate = openssl::read_pem_certificate(bio.get());
  if (!certificate) return fail(Errc::parse, "authority: " + openssl::take_error());
  const openssl::Key key = openssl::read_pem_key(authority.key_pem);
  if (!key) return fail(Errc::parse, "key of the authority: " + openssl::take_error());
  const Signer signer{.key = key.get(), .certificate = certificate.get()};
  return make_pair(
      {subject,
       now,
       validity,
       {.constraints = "critical,CA:FALSE", .key_usage = "critical,digitalSignature", .extended_usage = "serverAuth"}},
      &signer);
}

std::vector<std::string> split_certificates(std::string_view pem) {
  constexpr std::size_t max_certificates = 64;
  std::vector<std::string> found;
  ERR_clear_error();
  const openssl::Bio bio = openssl::bio_of(pem);
  while (found.size() < max_certificates) {
    const openssl::Certificate certificate = openssl::read_pem_certificate(bio.get());
    if (!certificate) break;
    found.push_back(written([&certificate](BIO* out) { PEM_write_bio_X509(out, certificate.get()); }));
  }
  ERR_clear_error();
  return found;
}

Result<bool> is_signed_by(std::string_view certificate_pem, std::string_view authority_pem) {
  ERR_clear_error();
  const openssl::Bio one = openssl::bio_of(certificate_pem), other = openssl::bio_of(authority_pem);
  const openssl::Certificate certificate = openssl::read_pem_certificate(one.get());
  const openssl::Certificate authority = openssl::read_pem_certificate(other.get());
  if (!certificate || !authority) return fail(Errc::parse, "certificate: " + openssl::take_error());
  EVP_PKEY* key = X509_get0_pubkey(authority.get());
  const bool valid = key && X509_verify(certificate.get(), key) == 1;
  ERR_clear_error();
  return valid;
}

Result<CertificateInfo> read_certificate(std::string_view certificate_pem) {
  ERR_clear_error();
  const openssl::Bio bio = openssl::bio_of(certificate_pem);
  const openssl::Certificate certificate = openssl::read_pem_certificate(bio.get());
  if (!certificate) return fail(Errc::parse, "certificate: " + openssl::take_error());
  KUBE_TRY(from, time_of(X509_get0_notBefore(certificate.get())));
  KUBE_TRY(to, time_of(X509_get0_notAfter(certificate.get())));
  return CertificateInfo{.subject = subject_of(certificate.get()), .not_before = from, .not_after = to};
}

Result<bool> key_matches(std::string_view key_pem, std::string_view certificate_pem) {
  ERR_clear_error();
  const openssl::Bio bio = openssl::bio_of(certificate_pem);
  const openssl::Certificate certificate = openssl::read_pem_certificate(bio.get());
  if (!certificate) return fail(Errc::parse, "certificate: " + openssl::take_error());
  const openssl::Key key = openssl::read_pem_key(key_pem);
  if (!key) return fail(Errc::parse, "private key: " + openssl::take_error());
  const bool matches = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return matches;
}

}  // namespace kube::net
