// Owning handles for the OpenSSL objects of this room, and its errors as text.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

namespace kube::net::openssl {

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

using Bio = std::unique_ptr<BIO, Deleter<BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using CertificateRequest = std::unique_ptr<X509_REQ, Deleter<X509_REQ_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>>;

inline Bio bio_of(std::string_view text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

/// The oldest queued error in words, and an empty queue.
inline std::string take_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  return reason != nullptr ? reason : "no reason given";
}

/// Never asks a terminal for a passphrase: an encrypted key is an error.
inline int no_passphrase(char*, int, int, void*) { return 0; }

inline Certificate read_pem_certificate(BIO* bio) {
  return Certificate(PEM_read_bio_X509(bio, nullptr, no_passphrase, nullptr));
}
inline Key read_pem_key(std::string_view pem) {
  const Bio bio = bio_of(pem);
  return Key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
}

}  // namespace kube::net::openssl
