#include "core/peering/keys.hpp"

#include <openssl/core_names.h>
#include <openssl/decoder.h>
#include <openssl/ec.h>
#include <openssl/encoder.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "core/peering/libcrypto.hpp"
#include "core/peering/pem.hpp"

namespace liqo::core {
namespace {

constexpr std::size_t max_key = std::size_t{16} << 10;
constexpr std::size_t raw_key_size = 32;
constexpr int shortest_rsa = 2048, max_rsa = 8192;

using libcrypto::bytes_of, libcrypto::Deleter;
using Decoder = std::unique_ptr<OSSL_DECODER_CTX, Deleter<OSSL_DECODER_CTX_free>>;
using Encoder = std::unique_ptr<OSSL_ENCODER_CTX, Deleter<OSSL_ENCODER_CTX_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, Deleter<EVP_MD_CTX_free>>;
using KeyPtr = std::shared_ptr<EVP_PKEY>;

KeyPtr own(EVP_PKEY* key) { return {key, &EVP_PKEY_free}; }

/// Parses DER of exactly this structure; null for other bytes, and for bytes that follow it.
KeyPtr decode(std::string_view der, const char* structure, int selection) {
  EVP_PKEY* key = nullptr;
  const Decoder decoder(OSSL_DECODER_CTX_new_for_pkey(&key, "DER", structure, nullptr, selection, nullptr, nullptr));
  const unsigned char* at = bytes_of(der);
  std::size_t left = der.size();
  const bool decoded = decoder && OSSL_DECODER_from_data(decoder.get(), &at, &left) == 1 && left == 0;
  ERR_clear_error();
  KeyPtr owned = key ? own(key) : nullptr;
  return decoded ? owned : nullptr;
}

std::string encode(EVP_PKEY* key, const char* structure, int selection) {
  const Encoder encoder(OSSL_ENCODER_CTX_new_for_pkey(key, selection, "DER", structure, nullptr));
  unsigned char* data = nullptr;
  std::size_t size = 0;
  if (!encoder || OSSL_ENCODER_to_data(encoder.get(), &data, &size) != 1) {
    ERR_clear_error();
    return {};
  }
  std::string der(reinterpret_cast<const char*>(data), size);
  OPENSSL_clear_free(data, size);
  return der;
}

kube::Result<KeyType> type_of(EVP_PKEY* key) {
  if (EVP_PKEY_is_a(key, "ED25519")) return KeyType::ed25519;
  const int bits = EVP_PKEY_get_bits(key);
  if (EVP_PKEY_is_a(key, "RSA")) {
    if (bits >= shortest_rsa && bits <= max_rsa) return KeyType::rsa;
    return kube::fail(kube::Errc::unsupported, "an RSA key of " + std::to_string(bits) + " bits is not accepted");
  }
  char curve[32] = "";
  std::size_t length = 0;
  if (EVP_PKEY_is_a(key, "EC") && EVP_PKEY_get_group_name(key, curve, sizeof curve, &length) == 1) {
    const std::string_view name(curve, length);
    if (name == "prime256v1" || name == "secp384r1" || name == "secp521r1") return KeyType::ecdsa;
  }
  ERR_clear_error();
  return kube::fail(kube::Errc::unsupported, "the key is neither Ed25519 nor RSA nor ECDSA on a NIST curve");
}

const EVP_MD* digest_of(KeyType type, int ecdsa_bits) {
  switch (type) {
    case KeyType::ed25519:
      return nullptr;
    case KeyType::rsa:
      return EVP_sha256();
    case KeyType::ecdsa:
      break;
  }
  return ecdsa_bits <= 256 ? EVP_sha256() : ecdsa_bits <= 384 ? EVP_sha384() : EVP_sha512();
}

bool verify_with(EVP_PKEY* key, const EVP_MD* digest, std::string_view message, std::string_view signature) {
  const Digest context(EVP_MD_CTX_new());
  const bool good =
      context && EVP_DigestVerifyInit(context.get(), nullptr, digest, nullptr, key) == 1 &&
      EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(message), message.size()) == 1;
  ERR_clear_error();
  return good;
}

kube::Result<std::string> sign_with(EVP_PKEY* key, const EVP_MD* digest, std::string_view message) {
  const Digest context(EVP_MD_CTX_new());
  std::size_t size = 0;
  std::string signature;
  if (context && EVP_DigestSignInit(context.get(), nullptr, digest, nullptr, key) == 1 &&
      EVP_DigestSign(context.get(), nullptr, &size, bytes_of(message), message.size()) == 1) {
    signature.resize(size);
    if (EVP_DigestSign(context.get(), bytes_of(signature), &size, bytes_of(message), message.size()) == 1) {
      signature.resize(size);
      return signature;
    }
  }
  ERR_clear_error();
  return kube::fail(kube::Errc::invalid_input, "the private key cannot sign");
}

}  // namespace

kube::Result<std::string> secure_random(std::size_t size) {
  std::string bytes(size, '\0');
  if (RAND_bytes(bytes_of(bytes), static_cast<int>(size)) == 1) return bytes;
  ERR_clear_error();
  return kube::fail(kube::Errc::missing, "the system has no entropy");
}

kube::Result<PublicKey> PublicKey::parse(std::string_view bytes) {
  if (bytes.size() > max_key) return kube::fail(kube::Errc::too_large, "the public key has more than 16 KiB");
  if (const auto block = read_pem(bytes)) {
    if (block->type != "PUBLIC KEY")
      return kube::fail(kube::Errc::parse, "the PEM block is not a PUBLIC KEY but a " + block->type.substr(0, 64));
    return from_der(block->der);
  }
  if (bytes.size() != raw_key_size)
    return kube::fail(kube::Errc::parse, "the public key is neither PEM nor 32 bytes of Ed25519");
  EVP_PKEY* raw = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(bytes), bytes.size());
  ERR_clear_error();
  if (!raw) return kube::fail(kube::Errc::parse, "the 32 bytes are no Ed25519 key");
  KeyPtr key = own(raw);
  std::string der = encode(raw, "SubjectPublicKeyInfo", EVP_PKEY_PUBLIC_KEY);
  return PublicKey(std::move(key), KeyType::ed25519, std::move(der));
}

kube::Result<PublicKey> PublicKey::from_der(std::string_view der) {
  if (der.size() > max_key) return kube::fail(kube::Errc::too_large, "the public key has more than 16 KiB");
  KeyPtr key = decode(der, "SubjectPublicKeyInfo", EVP_PKEY_PUBLIC_KEY);
  if (!key) return kube::fail(kube::Errc::parse, "the public key is not a SubjectPublicKeyInfo");
  KUBE_TRY(type, type_of(key.get()));
  // Keys are encoded again, so that equal keys are equal bytes however they came.
  std::string canonical = encode(key.get(), "SubjectPublicKeyInfo", EVP_PKEY_PUBLIC_KEY);
  if (canonical.empty()) return kube::fail(kube::Errc::parse, "the public key cannot be encoded");
  return PublicKey(std::move(key), type, std::move(canonical));
}

int PublicKey::bits() const { return EVP_PKEY_get_bits(key_.get()); }

std::string PublicKey::pem() const { return write_pem("PUBLIC KEY", der_); }

bool PublicKey::verify(std::string_view message, std::string_view signature) const {
  return verify_with(key_.get(), type_ == KeyType::ed25519 ? nullptr : EVP_sha256(), message, signature);
}

const evp_md_st* PublicKey::request_digest() const { return digest_of(type_, bits()); }

kube::Result<PrivateKey> PrivateKey::adopt(std::shared_ptr<evp_pkey_st> key) {
  KUBE_TRY(type, type_of(key.get()));
  std::string der = encode(key.get(), "SubjectPublicKeyInfo", EVP_PKEY_PUBLIC_KEY);
  if (der.empty()) return kube::fail(kube::Errc::parse, "the private key has no public half");
  PublicKey half(key, type, std::move(der));
  return PrivateKey(std::move(key), std::move(half));
}

kube::Result<PrivateKey> PrivateKey::make_ed25519(const Entropy& entropy) {
  KUBE_TRY(seed, entropy(raw_key_size));
  EVP_PKEY* key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes_of(seed), seed.size());
  OPENSSL_cleanse(seed.data(), seed.size());
  ERR_clear_error();
  if (!key) return kube::fail(kube::Errc::invalid_input, "no Ed25519 key can be made of the given entropy");
  return adopt(own(key));
}

kube::Result<PrivateKey> PrivateKey::make_rsa() {
  EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t(shortest_rsa));
  ERR_clear_error();
  if (!key) return kube::fail(kube::Errc::missing, "no RSA key can be made");
  return adopt(own(key));
}

kube::Result<PrivateKey> PrivateKey::make_for_pod(std::string_view type, const Entropy& entropy) {
  if (type == "ED25519") return make_ed25519(entropy ? entropy : secure_random);
  EVP_PKEY* key = nullptr;
  if (type == "ECDSAP256") key = EVP_EC_gen("P-256");
  if (type == "ECDSAP384") key = EVP_EC_gen("P-384");
  if (type == "ECDSAP521") key = EVP_EC_gen("P-521");
  if (type == "RSA3072") key = EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{3072});
  if (type == "RSA4096") key = EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{4096});
  ERR_clear_error();
  if (!key) return kube::fail(kube::Errc::unsupported, "no key of type " + std::string(type) + " can be made");
  return adopt(own(key));
}

kube::Result<PrivateKey> PrivateKey::parse(std::string_view pem) {
  if (pem.size() > max_key) return kube::fail(kube::Errc::too_large, "the private key has more than 16 KiB");
  auto block = read_pem(pem);
  if (!block || block->type != "PRIVATE KEY")
    return kube::fail(kube::Errc::parse, "the private key is not a PEM block PRIVATE KEY (PKCS#8)");
  KeyPtr key = decode(block->der, "PrivateKeyInfo", EVP_PKEY_KEYPAIR);
  OPENSSL_cleanse(block->der.data(), block->der.size());
  if (!key) return kube::fail(kube::Errc::parse, "the private key is not PKCS#8");
  return adopt(std::move(key));
}

std::string PrivateKey::pem() const {
  std::string der = encode(key_.get(), "PrivateKeyInfo", EVP_PKEY_KEYPAIR);
  std::string text = write_pem("PRIVATE KEY", der);
  OPENSSL_cleanse(der.data(), der.size());
  return text;
}

kube::Result<std::string> PrivateKey::sign(std::string_view message) const {
  return sign_with(key_.get(), type() == KeyType::ed25519 ? nullptr : EVP_sha256(), message);
}

}  // namespace liqo::core
