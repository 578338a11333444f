// OpenSSL's libcrypto for the files of this folder: owners of its objects, and conversions of bytes.
// Tested by test/unit/core/peering/csr_test.cpp and test/unit/core/peering/strict_csr_test.cpp.
#pragma once

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>

namespace liqo::core::libcrypto {

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Request = std::unique_ptr<X509_REQ, Deleter<X509_REQ_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using Name = std::unique_ptr<X509_NAME, Deleter<X509_NAME_free>>;

inline const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
inline unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

/// The DER of an object by its `i2d` function; "" if it has none.
template <class T>
std::string der_of(int (*write)(T*, unsigned char**), T* object) {
  const int size = write(object, nullptr);
  std::string der(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
  unsigned char* at = bytes_of(der);
  if (size > 0) write(object, &at);
  return der;
}

/// Reads a request or a certificate; null if the bytes are not exactly one in DER. `read` (`d2i`) takes more than that,
/// and keeps the bytes of the part that is signed. Therefore `renew` (`i2d_re_…_tbs`) has that part encoded again, and
/// what `write` (`i2d`) gives is compared.
template <class Owned, class T = Owned::element_type>
Owned read_der(std::string_view der, T* (*read)(T**, const unsigned char**, long), int (*renew)(T*, unsigned char**),
               int (*write)(const T*, unsigned char**)) {
  const unsigned char* at = bytes_of(der);
  Owned object(read(nullptr, &at, static_cast<long>(der.size())));
  const bool is_all = object && at == bytes_of(der) + der.size();
  if (is_all) der_of(renew, object.get());
  const bool is_der = is_all && der_of<const T>(write, object.get()) == der;
  ERR_clear_error();
  return is_der ? std::move(object) : nullptr;
}

}  // namespace liqo::core::libcrypto
