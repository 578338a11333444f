// Bytes from another cluster as a certificate signing request, and as a certificate. A request that can be read passes
// the check for the name and the key that were read of it, and for no other name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/peering/csr.hpp"
#include "core/peering/renewal.hpp"
#include "kube/base/base64.hpp"

namespace {

std::string pem(const std::string& type, std::string_view der) {
  return "-----BEGIN " + type + "-----\n" + kube::encode_base64(der) + "\n-----END " + type + "-----\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace liqo::core;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const std::string& text : {std::string(bytes), pem("CERTIFICATE REQUEST", bytes)})
    if (const auto request = read_signing_request(text)) {
      if (!check_signing_request(text, request->name, &request->key)) std::abort();
      if (check_signing_request(text, {.common_name = request->name.common_name + "x", .organization = {}}, nullptr))
        std::abort();
    }
  static_cast<void>(read_certificate(pem("CERTIFICATE", bytes)));
  static_cast<void>(PublicKey::from_der(bytes));
  return 0;
}
