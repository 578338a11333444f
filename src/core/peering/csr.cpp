#include "core/peering/csr.hpp"

#include <openssl/err.h>
#include <openssl/objects.h>

#include "core/common/peer_names.hpp"
#include "core/peering/distinguished_name.hpp"
#include "core/peering/pem.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/names.hpp"

namespace liqo::core {
namespace {

using libcrypto::der_of, libcrypto::Request;

// The longest part of a name that is shown.
constexpr std::size_t max_name = 128;
constexpr std::size_t max_request = std::size_t{16} << 10;
constexpr std::string_view pem_type = "CERTIFICATE REQUEST";

/// Whether requests signed by `key` have this algorithm (RFC 8410 section 3, RFC 4055 section 5, RFC 5758 section 3.2).
bool fits(const X509_ALGOR& algorithm, const PublicKey& key) {
  const ASN1_OBJECT* object = nullptr;
  int parameter = V_ASN1_UNDEF;
  X509_ALGOR_get0(&object, &parameter, nullptr, &algorithm);
  const int id = OBJ_obj2nid(object);
  switch (key.type()) {
    case KeyType::ed25519:
      return id == NID_ED25519 && parameter == V_ASN1_UNDEF;
    case KeyType::rsa:
      return id == NID_sha256WithRSAEncryption && parameter == V_ASN1_NULL;
    case KeyType::ecdsa:
      break;
  }
  const int wanted = key.bits() <= 256   ? NID_ecdsa_with_SHA256
                     : key.bits() <= 384 ? NID_ecdsa_with_SHA384
                                         : NID_ecdsa_with_SHA512;
  return id == wanted && parameter == V_ASN1_UNDEF;
}

std::unexpected<kube::Failure> refuse(std::string why) {
  return kube::fail(kube::Errc::invalid_input, "the signing request " + std::move(why));
}

}  // namespace

CertificateName control_plane_name(std::string_view consumer) {
  return {.common_name = std::string(consumer), .organization = std::string(api::control_plane_group)};
}

CertificateName slice_name(std::string_view slice, std::string_view consumer) {
  return {.common_name = slice_user(slice, consumer), .organization = std::string(consumer)};
}

kube::Result<std::string> make_signing_request(const PrivateKey& key, const CertificateName& name) {
  const Request request(X509_REQ_new());
  const libcrypto::Name subject = write_name(name);
  const bool made = request && subject && X509_REQ_set_version(request.get(), 0) == 1 &&
                    X509_REQ_set_subject_name(request.get(), subject.get()) == 1 &&
                    X509_REQ_set_pubkey(request.get(), key.handle()) == 1 &&
                    X509_REQ_sign(request.get(), key.handle(), key.public_key().request_digest()) > 0;
  ERR_clear_error();
  if (!made)
    return kube::fail(kube::Errc::invalid_input, "no request can be made for that name and key: names are UTF-8");
  return write_pem(pem_type, der_of<const X509_REQ>(i2d_X509_REQ, request.get()));
}

kube::Result<std::string> make_empty_request(const PrivateKey& key) {
  const Request request(X509_REQ_new());
  const bool made = request && X509_REQ_set_version(request.get(), 0) == 1 &&
                    X509_REQ_set_pubkey(request.get(), key.handle()) == 1 &&
                    X509_REQ_sign(request.get(), key.handle(), key.public_key().request_digest()) > 0;
  ERR_clear_error();
  if (!made) return kube::fail(kube::Errc::invalid_input, "no request can be made for that key");
  return der_of<const X509_REQ>(i2d_X509_REQ, request.get());
}

kube::Result<SigningRequest> read_signing_request(std::string_view pem) {
  if (pem.size() > max_request) return refuse("has more than 16 KiB");
  const auto block = read_pem(pem);
  if (!block || block->type != pem_type) return refuse("is not a PEM block CERTIFICATE REQUEST");
  if (!block->rest.empty()) return refuse("has something after its PEM block");

  const auto request = libcrypto::read_der<Request>(block->der, d2i_X509_REQ, i2d_re_X509_REQ_tbs, i2d_X509_REQ);
  if (!request || X509_REQ_get_version(request.get()) != 0) return refuse("is not a PKCS#10 request in DER");
  if (X509_REQ_get_attr_count(request.get()) > 0)
    return refuse("has attributes: alternative names and extensions are not granted, leave them out");
  KUBE_TRY(name, read_name(*X509_REQ_get_subject_name(request.get())), "the signing request");
  KUBE_TRY(key,
           PublicKey::from_der(der_of<const X509_PUBKEY>(i2d_X509_PUBKEY, X509_REQ_get_X509_PUBKEY(request.get()))),
           "the signing request");
  const X509_ALGOR* algorithm = nullptr;
  X509_REQ_get0_signature(request.get(), nullptr, &algorithm);
  if (!fits(*algorithm, key)) return refuse("is signed by an algorithm that does not fit its key");
  const bool is_signed = X509_REQ_verify(request.get(), key.handle()) == 1;
  ERR_clear_error();
  if (!is_signed) return refuse("is not signed by the key that it holds");
  return SigningRequest{.name = std::move(name), .key = std::move(key)};
}

kube::Result<void> check_signing_request(std::string_view pem, const CertificateName& name, const PublicKey* key) {
  KUBE_TRY(request, read_signing_request(pem));
  if (request.name.common_name != name.common_name)
    return refuse("is for the common name " + kube::in_quotes(request.name.common_name, max_name) + ", and " +
                  kube::in_quotes(name.common_name, max_name) + " is expected");
  if (request.name.organization != name.organization)
    return refuse("is for the organization " + kube::in_quotes(request.name.organization, max_name) + ", and " +
                  kube::in_quotes(name.organization, max_name) + " is expected");
  if (key && request.key != *key) return refuse("is for another key than the tenant's public key");
  return {};
}

}  // namespace liqo::core
