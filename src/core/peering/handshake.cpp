#include "core/peering/handshake.hpp"

#include "core/peering/csr.hpp"
#include "core/peering/renewal.hpp"
#include "kube/base/base64.hpp"
#include "liqo/api/auth_params.hpp"

namespace liqo::core {
namespace {

constexpr std::size_t nonce_bytes = 64;
constexpr std::string_view bad_signature = "SignatureVerificationFailed";
constexpr std::string_view bad_request = "InvalidCSR";

std::unexpected<HandshakeRefusal> refuse(std::string_view reason, std::string text) {
  return std::unexpected(HandshakeRefusal{.reason = reason, .text = std::move(text)});
}

}  // namespace

kube::Result<std::string> make_nonce(const Entropy& entropy) {
  KUBE_TRY(bytes, entropy(nonce_bytes));
  return kube::encode_base64(bytes);
}

bool is_nonce(std::string_view text) {
  const auto bytes = kube::decode_base64(text);
  return bytes && bytes->size() == nonce_bytes && kube::encode_base64(*bytes) == text;
}

std::expected<void, HandshakeRefusal> check_handshake(const api::Tenant& tenant, std::string_view nonce) {
  auto key = PublicKey::parse(tenant.public_key());
  if (!key) return refuse(bad_signature, "spec.publicKey cannot be used: " + key.error().text());
  if (!key->verify(nonce, tenant.signature()))
    return refuse(bad_signature,
                  "spec.signature is not a signature of this cluster's nonce by spec.publicKey: generate the Tenant "
                  "anew, with the nonce that is in the Secret liqo-nonce now");
  return check_request(tenant);
}

std::expected<void, HandshakeRefusal> check_request(const api::Tenant& tenant) {
  auto key = PublicKey::parse(tenant.public_key());
  if (!key) return refuse(bad_request, "spec.publicKey cannot be used: " + key.error().text());
  auto checked = check_signing_request(tenant.csr(), control_plane_name(tenant.cluster_id()), &*key);
  if (!checked) return refuse(bad_request, "spec.csr is refused: " + checked.error().text());
  return {};
}

bool was_admitted(const api::Tenant& tenant) {
  const auto params = api::read_auth_params(tenant.auth_params());
  const auto key = PublicKey::parse(tenant.public_key());
  if (!params || !key) return false;
  const auto certificate = read_certificate(params->certificate_pem);
  return certificate && certificate->key == *key && certificate->name == control_plane_name(tenant.cluster_id());
}

}  // namespace liqo::core
