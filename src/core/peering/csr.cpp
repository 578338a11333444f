#include "liqo/core/peering/csr.hpp"

#include "core/peering/der.hpp"
#include "core/peering/distinguished_name.hpp"
#include "core/peering/pem.hpp"
#include "liqo/core/peering/names.hpp"
#include "liqo/core/quoted.hpp"

namespace liqo::core {
namespace {

// Of a name as we show it.
constexpr std::size_t longest_name = 128;
constexpr std::size_t longest_request = std::size_t{16} << 10;
constexpr std::string_view pem_type = "CERTIFICATE REQUEST";

/// AlgorithmIdentifier (RFC 8410 section 3, RFC 4055 section 5, RFC 5758 section 3.2) of request signatures by `key`.
std::string algorithm_of(const PublicKey& key) {
  using namespace std::string_literals;
  switch (key.type()) {
    case KeyType::ed25519:
      return "\x30\x05\x06\x03\x2b\x65\x70"s;
    case KeyType::rsa:
      return "\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b\x05\x00"s;
    case KeyType::ecdsa:
      break;
  }
  const char last = key.bits() <= 256 ? '\x02' : key.bits() <= 384 ? '\x03' : '\x04';
  return "\x30\x0a\x06\x08\x2a\x86\x48\xce\x3d\x04\x03"s + last;
}

std::unexpected<kube::Failure> refuse(std::string why) {
  return kube::fail(kube::Errc::invalid_input, "the signing request " + std::move(why));
}

std::unexpected<kube::Failure> not_a_request() { return refuse("is not a PKCS#10 request in DER"); }

}  // namespace

CertificateName control_plane_name(std::string_view consumer) {
  return {.common_name = std::string(consumer), .organization = std::string(control_plane_organization)};
}

CertificateName slice_name(std::string_view slice, std::string_view consumer) {
  return {.common_name = slice_user(slice, consumer), .organization = std::string(consumer)};
}

kube::Result<std::string> make_signing_request(const PrivateKey& key, const CertificateName& name) {
  const std::string version = der::element(der::integer, std::string_view("\0", 1));
  const std::string info = der::element(
      der::sequence, version + write_name(name) + key.public_key().der() + der::element(der::context_0, ""));
  auto signature = key.sign_request(info);
  if (!signature) return std::unexpected(std::move(signature.error()));
  const std::string unused_bits(1, '\0');
  return write_pem(pem_type, der::element(der::sequence, info + algorithm_of(key.public_key()) +
                                                             der::element(der::bit_string, unused_bits + *signature)));
}

kube::Result<SigningRequest> read_signing_request(std::string_view pem) {
  if (pem.size() > longest_request) return refuse("has more than 16 KiB");
  const auto block = read_pem(pem);
  if (!block || block->type != pem_type) return refuse("is not a PEM block CERTIFICATE REQUEST");
  if (!block->rest.empty()) return refuse("has something after its PEM block");

  der::Reader outer(block->der);
  const auto request = outer.take(der::sequence);
  if (!request || !outer.at_end()) return not_a_request();
  der::Reader parts(request->content);
  const auto info = parts.take(der::sequence);
  const auto algorithm = parts.take(der::sequence);
  const auto signature = parts.take(der::bit_string);
  if (!info || !algorithm || !signature || !parts.at_end() || !signature->content.starts_with('\0'))
    return not_a_request();

  der::Reader fields(info->content);
  const auto version = fields.take(der::integer);
  const auto subject = fields.take(der::sequence);
  const auto key_info = fields.take(der::sequence);
  if (!version || !subject || !key_info || version->content != std::string_view("\0", 1)) return not_a_request();
  if (!fields.at_end()) {
    const auto attributes = fields.take(der::context_0);
    if (!attributes || !fields.at_end()) return not_a_request();
    if (!attributes->content.empty())
      return refuse("has attributes: alternative names and extensions are not granted, leave them out");
  }
  auto name = read_name(subject->content);
  if (!name) return std::unexpected(std::move(name.error()).in("the signing request"));
  auto key = PublicKey::from_der(key_info->whole);
  if (!key) return std::unexpected(std::move(key.error()).in("the signing request"));
  if (algorithm->whole != algorithm_of(*key)) return refuse("is signed by an algorithm that does not fit its key");
  if (!key->verify_request(info->whole, signature->content.substr(1)))
    return refuse("is not signed by the key that it holds");
  return SigningRequest{.name = std::move(*name), .key = std::move(*key)};
}

bool is_same_request(std::string_view a, std::string_view b) {
  const auto first = read_pem(a), second = read_pem(b);
  return first && second && first->type == second->type && first->der == second->der;
}

kube::Result<void> check_signing_request(std::string_view pem, const CertificateName& name, const PublicKey* key) {
  auto request = read_signing_request(pem);
  if (!request) return std::unexpected(std::move(request.error()));
  if (request->name.common_name != name.common_name)
    return refuse("is for the common name " + in_quotes(request->name.common_name, longest_name) + ", and " +
                  in_quotes(name.common_name, longest_name) + " is expected");
  if (request->name.organization != name.organization)
    return refuse("is for the organization " + in_quotes(request->name.organization, longest_name) + ", and " +
                  in_quotes(name.organization, longest_name) + " is expected");
  if (key && request->key != *key) return refuse("is for another key than the tenant's public key");
  return {};
}

}  // namespace liqo::core
