#include "core/peering/distinguished_name.hpp"

#include <openssl/asn1.h>
#include <openssl/objects.h>

#include <algorithm>
#include <span>
#include <utility>

namespace liqo::core {
namespace {

using libcrypto::Name;

constexpr std::size_t max_value = 1024;

bool is_printable(std::string_view text) {
  constexpr std::string_view punctuation = " '()+,-./:=?";
  return std::ranges::all_of(text, [punctuation](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || punctuation.contains(c);
  });
}

/// With an explicit type libcrypto does not apply X.509's limit of 64 characters.
bool add_part(X509_NAME* name, int id, std::string_view value) {
  const int type = is_printable(value) ? V_ASN1_PRINTABLESTRING : V_ASN1_UTF8STRING;
  return X509_NAME_add_entry_by_NID(name, id, type, libcrypto::bytes_of(value), static_cast<int>(value.size()), -1,
                                    0) == 1;
}

std::unexpected<kube::Failure> refuse(std::string why) { return kube::fail(kube::Errc::invalid_input, std::move(why)); }

/// libcrypto keeps the bytes from which a name was parsed, and these need not be DER.
bool is_der(const X509_NAME& name) {
  const Name again(X509_NAME_new());
  for (int i = 0; i < X509_NAME_entry_count(&name); ++i)
    if (!again || X509_NAME_add_entry(again.get(), X509_NAME_get_entry(&name, i), -1, 0) != 1) return false;
  const unsigned char *bytes = nullptr, *others = nullptr;
  std::size_t size = 0, other_size = 0;
  if (!again || i2d_X509_NAME(again.get(), nullptr) <= 0) return false;
  if (X509_NAME_get0_der(&name, &bytes, &size) != 1 || X509_NAME_get0_der(again.get(), &others, &other_size) != 1)
    return false;
  return std::ranges::equal(std::span(bytes, size), std::span(others, other_size));
}

}  // namespace

Name write_name(const CertificateName& name) {
  Name made(X509_NAME_new());
  if (!made || !add_part(made.get(), NID_organizationName, name.organization) ||
      !add_part(made.get(), NID_commonName, name.common_name))
    return nullptr;
  return made;
}

kube::Result<CertificateName> read_name(const X509_NAME& subject) {
  CertificateName name;
  bool has_name = false, has_organization = false;
  int set_before = -1;
  for (int i = 0; i < X509_NAME_entry_count(&subject); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(&subject, i);
    if (std::exchange(set_before, X509_NAME_ENTRY_set(entry)) == X509_NAME_ENTRY_set(entry))
      return refuse("its subject has a part of several values");
    const int id = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
    const bool is_name = id == NID_commonName;
    if (!is_name && id != NID_organizationName)
      return refuse("its subject has a part that is neither organization nor common name");
    bool& seen = is_name ? has_name : has_organization;
    if (seen) return refuse(is_name ? "it has more than one common name" : "it has more than one organization");
    seen = true;
    const ASN1_STRING* value = X509_NAME_ENTRY_get_data(entry);
    const int type = ASN1_STRING_type(value);
    if (type != V_ASN1_PRINTABLESTRING && type != V_ASN1_UTF8STRING)
      return refuse("its subject has a string of an unusual type");
    const std::string_view text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                                static_cast<std::size_t>(ASN1_STRING_length(value)));
    if (text.empty() || text.size() > max_value ||
        std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
      return refuse("its subject has an empty, overlong or unprintable value");
    (is_name ? name.common_name : name.organization) = text;
  }
  if (!has_name || !has_organization) return refuse("its subject needs one organization and one common name");
  if (!is_der(subject)) return refuse("its subject is not DER");
  return name;
}

}  // namespace liqo::core
