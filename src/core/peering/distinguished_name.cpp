#include "core/peering/distinguished_name.hpp"

#include <algorithm>

#include "core/peering/der.hpp"

namespace liqo::core {
namespace {

constexpr std::string_view common_name_id = "\x55\x04\x03", organization_id = "\x55\x04\x0a";
constexpr std::size_t longest_value = 1024;

bool is_printable(std::string_view text) {
  constexpr std::string_view punctuation = " '()+,-./:=?";
  return std::ranges::all_of(text, [punctuation](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || punctuation.contains(c);
  });
}

std::string write_part(std::string_view id, std::string_view value) {
  const std::uint8_t type = is_printable(value) ? der::printable_string : der::utf8_string;
  return der::element(der::set,
                      der::element(der::sequence, der::element(der::object_id, id) + der::element(type, value)));
}

std::unexpected<kube::Failure> refuse(std::string why) { return kube::fail(kube::Errc::invalid_input, std::move(why)); }

}  // namespace

std::string write_name(const CertificateName& name) {
  return der::element(der::sequence,
                      write_part(organization_id, name.organization) + write_part(common_name_id, name.common_name));
}

kube::Result<CertificateName> read_name(std::string_view content) {
  CertificateName name;
  bool has_name = false, has_organization = false;
  der::Reader parts(content);
  while (!parts.at_end()) {
    const auto part = parts.take(der::set);
    if (!part) return refuse("its subject is not DER");
    der::Reader members(part->content);
    const auto member = members.take(der::sequence);
    if (!member) return refuse("its subject is not DER");
    if (!members.at_end()) return refuse("its subject has a part of several values");
    der::Reader pair(member->content);
    const auto id = pair.take(der::object_id);
    const auto value = pair.any();
    if (!id || !value || !pair.at_end()) return refuse("its subject is not DER");
    const bool is_name = id->content == common_name_id;
    if (!is_name && id->content != organization_id)
      return refuse("its subject has a part that is neither organization nor common name");
    bool& seen = is_name ? has_name : has_organization;
    if (seen) return refuse(is_name ? "it has more than one common name" : "it has more than one organization");
    seen = true;
    if (value->tag != der::printable_string && value->tag != der::utf8_string)
      return refuse("its subject has a string of an unusual type");
    if (value->content.empty() || value->content.size() > longest_value ||
        std::ranges::any_of(value->content, [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
      return refuse("its subject has an empty, overlong or unprintable value");
    (is_name ? name.common_name : name.organization) = value->content;
  }
  if (!has_name || !has_organization) return refuse("its subject needs one organization and one common name");
  return name;
}

}  // namespace liqo::core
