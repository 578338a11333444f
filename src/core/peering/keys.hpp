// The key pair of a cluster and what is signed with it: nonces and certificate signing requests.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"

struct evp_md_st;  // of OpenSSL, like evp_pkey_st
struct evp_pkey_st;

namespace liqo::core {

/// Returns `size` unpredictable bytes. Simulations use one that can be replayed.
using Entropy = std::function<kube::Result<std::string>(std::size_t)>;
/// OpenSSL's entropy. Errors: Errc::missing (there is none; the caller has to give up).
kube::Result<std::string> secure_random(std::size_t size);

/// The algorithms of keys that Liqo understands.
enum class KeyType {
  ed25519,
  rsa,    ///< 2048 to 8192 bits; new ones have 2048
  ecdsa,  ///< on P-256, P-384 or P-521; new ones are for pods only
};

/// A public key of another cluster, or our own. Copies share it. Pure.
class PublicKey {
 public:
  /// Reads a PEM `PUBLIC KEY` of at most 16 KiB, or the 32 raw bytes of an Ed25519 key that Liqo up to 1.0.1 sent.
  /// Errors: Errc::too_large (more than that), Errc::parse (no key), Errc::unsupported (an algorithm or size that
  /// `KeyType` does not name).
  static kube::Result<PublicKey> parse(std::string_view bytes);
  /// Reads a SubjectPublicKeyInfo (RFC 5280 section 4.1) in DER. Errors as parse().
  static kube::Result<PublicKey> from_der(std::string_view der);

  KeyType type() const { return type_; }
  /// The size of the modulus or the curve: 2048, 256, 384 ...
  int bits() const;
  /// SubjectPublicKeyInfo: PEM with a newline at the end, and DER. Equal keys have equal DER.
  std::string pem() const;
  const std::string& der() const { return der_; }
  /// Whether `signature` is one of `message` by this key: pure Ed25519, RSA PKCS#1 v1.5 over SHA-256, ECDSA in DER over
  /// SHA-256. False for a signature of the wrong size or form.
  bool verify(std::string_view message, std::string_view signature) const;
  /// The digest for requests and certificates that such a key signs: with ECDSA it depends on the size; null for
  /// Ed25519, which has its own.
  const evp_md_st* request_digest() const;
  /// OpenSSL's key, which lives as long as this.
  evp_pkey_st* handle() const { return key_.get(); }
  bool operator==(const PublicKey& other) const { return der_ == other.der_; }

 private:
  friend class PrivateKey;
  PublicKey(std::shared_ptr<evp_pkey_st> key, KeyType type, std::string der)
      : key_(std::move(key)), type_(type), der_(std::move(der)) {}
  std::shared_ptr<evp_pkey_st> key_;
  KeyType type_;
  std::string der_;
};

/// A private key. Copies share it. Its text must reach Secrets only.
class PrivateKey {
 public:
  /// An Ed25519 key from 32 bytes of entropy.
  static kube::Result<PrivateKey> make_ed25519(const Entropy& entropy);
  /// An RSA key of 2048 bits, for providers that take no other (with OpenSSL's own entropy, in about 100 ms).
  static kube::Result<PrivateKey> make_rsa();
  /// A key for a pod, by the name that Kubernetes has for its type: ED25519, ECDSAP256, ECDSAP384, ECDSAP521, RSA3072
  /// or RSA4096, which take up to seconds. Without `entropy` OpenSSL's own is used. Errors: Errc::unsupported.
  static kube::Result<PrivateKey> make_for_pod(std::string_view type, const Entropy& entropy);
  /// Reads a PEM `PRIVATE KEY` (PKCS#8, not encrypted) of at most 16 KiB. Errors as PublicKey::parse().
  static kube::Result<PrivateKey> parse(std::string_view pem);

  KeyType type() const { return public_.type(); }
  const PublicKey& public_key() const { return public_; }
  /// PKCS#8 in PEM with a newline at the end.
  std::string pem() const;
  /// A signature as PublicKey::verify() takes it; deterministic except with ECDSA.
  kube::Result<std::string> sign(std::string_view message) const;
  /// OpenSSL's key, which lives as long as this.
  evp_pkey_st* handle() const { return key_.get(); }

 private:
  PrivateKey(std::shared_ptr<evp_pkey_st> key, PublicKey public_key)
      : key_(std::move(key)), public_(std::move(public_key)) {}
  static kube::Result<PrivateKey> adopt(std::shared_ptr<evp_pkey_st> key);
  std::shared_ptr<evp_pkey_st> key_;
  PublicKey public_;
};

}  // namespace liqo::core
