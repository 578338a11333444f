// Requests and certificates as nobody makes them by mistake, each with a good signature: what a reader that is content
// with less than DER, or with another name, would let through.
#include <doctest/doctest.h>

#include <chrono>
#include <functional>

#include "core/peering/csr.hpp"
#include "core/peering/renewal.hpp"
#include "fixtures.hpp"
#include "kube/base/base64.hpp"

namespace liqo::core {
namespace {

using namespace std::string_literals;

std::string element(char tag, std::string_view content) {
  std::string length;
  for (std::size_t left = content.size(); left > 0; left >>= 8) length.insert(length.begin(), char(left & 0xff));
  if (content.size() < 0x80) length = std::string(1, char(content.size()));
  if (content.size() >= 0x80) length.insert(length.begin(), char(0x80 | length.size()));
  return tag + length + std::string(content);
}

const std::string organization = "\x06\x03\x55\x04\x0a"s, common_name = "\x06\x03\x55\x04\x03"s;
const std::string ed25519 = "\x30\x05\x06\x03\x2b\x65\x70"s;
constexpr char sequence = 0x30, set = 0x31, printable = 0x13, utf8 = 0x0c;

std::string part(const std::string& id, std::string_view value, char type = printable) {
  return element(set, element(sequence, id + element(type, value)));
}
std::string usual_name() { return part(organization, "liqo.io") + part(common_name, "tenant-a"); }

/// What a request is made of; what is not set is as it should be.
struct Parts {
  std::string name = element(sequence, usual_name());
  std::string version = "\x02\x01\x00"s;
  std::string key_algorithm = ed25519;
  std::string attributes = "\xa0\x00"s;
  std::string algorithm = ed25519;
  std::string behind = {};
  char unused_bits = 0;
};

PrivateKey key() { return PrivateKey::parse(fixtures::private_key).value(); }

std::string pem(std::string_view type, std::string_view der) {
  return "-----BEGIN " + std::string(type) + "-----\n" + kube::encode_base64(der) + "\n-----END " + std::string(type) +
         "-----\n";
}

std::string request(const Parts& parts) {
  const std::string bits = key().public_key().der().substr(ed25519.size() + 2);
  const std::string info =
      element(sequence, parts.version + parts.name + element(sequence, parts.key_algorithm + bits) + parts.attributes);
  const std::string signature = parts.unused_bits + key().sign(info).value();
  return pem("CERTIFICATE REQUEST",
             element(sequence, info + parts.algorithm + element(0x03, signature)) + parts.behind);
}

std::string certificate(const std::string& name, std::string_view end, char end_type = 0x17, std::string behind = {}) {
  const std::string times = element(0x17, "200101000000Z") + element(end_type, end);
  const std::string body = element(sequence, "\xa0\x03\x02\x01\x02\x02\x01\x05"s + ed25519 + name +
                                                 element(sequence, times) + name + key().public_key().der());
  return pem("CERTIFICATE",
             element(sequence, body + ed25519 + element(0x03, '\0' + key().sign(body).value())) + behind);
}

}  // namespace

TEST_CASE("a request that is signed well and says it in any other way than DER is refused, and so is any other name") {
  REQUIRE(read_signing_request(request({})).value().name == control_plane_name("tenant-a"));
  REQUIRE(read_signing_request(request({.attributes = ""})));
  const auto named = [](std::string parts) { return Parts{.name = element(sequence, parts)}; };
  const auto with_cn = [&](std::string value) {
    return named(part(organization, "liqo.io") + element(set, element(sequence, common_name + std::move(value))));
  };
  struct Case {
    const char* title;
    Parts parts;
    const char* says;
  };
  for (const Case& c :
       {Case{"a length in more bytes than it needs", with_cn("\x0c\x81\x01"s + "a"), "DER"},
        Case{"a string in pieces", with_cn(element(0x2c, element(utf8, "ab"))), "DER"},
        Case{"a name without an end", {.name = "\x30\x80"s + usual_name() + "\0\0"s}, "DER"},
        Case{"a part without a value", named("\x31\x00"s + usual_name()), "DER"},
        Case{"a key whose algorithm has a length in more bytes",
             {.key_algorithm = "\x30\x81\x05\x06\x03\x2b\x65\x70"s},
             "DER"},
        Case{"version 1", {.version = "\x02\x01\x01"s}, "DER"},
        Case{"version 2^64", {.version = "\x02\x09\x01\0\0\0\0\0\0\0\0"s}, "DER"},
        Case{"a byte behind it", {.behind = "\0"s}, "DER"},
        Case{"something behind the attributes", {.attributes = "\xa0\x00\x05\x00"s}, "DER"},
        Case{"bits of the signature that are not used", {.unused_bits = 3}, ""},
        Case{"a parameter of Ed25519", {.algorithm = "\x30\x07\x06\x03\x2b\x65\x70\x05\x00"s}, "algorithm"},
        Case{"the algorithm of another key",
             {.algorithm = "\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b\x05\x00"s},
             "algorithm"},
        Case{"two organizations, each a part", named(part(organization, "a") + usual_name()),
             "more than one organization"},
        Case{"two common names, each a part", named(usual_name() + part(common_name, "b")),
             "more than one common name"},
        Case{"no common name", named(part(organization, "liqo.io")), "needs one"},
        Case{"an empty name", named(""), "needs one"},
        Case{"a string of another type", with_cn(element(0x16, "a")), "unusual type"},
        Case{"an empty value", with_cn(element(utf8, "")), "empty"},
        Case{"a value of 1,025 bytes", with_cn(element(utf8, std::string(1025, 'a'))), "overlong"},
        Case{"a value with NUL", with_cn(element(utf8, "a\0b"s)), "unprintable"},
        Case{"a value that is not UTF-8", with_cn(element(utf8, "a\xff")), "DER"}}) {
    CAPTURE(c.title);
    const auto read = read_signing_request(request(c.parts));
    REQUIRE(!read);
    CAPTURE(read.error().text());
    CHECK(read.error().text().contains(c.says));
  }
  CHECK(read_signing_request(request(with_cn(element(utf8, std::string(1024, 'a'))))));
  CHECK(read_signing_request(request(named(part(common_name, "tenant-a") + part(organization, "liqo.io")))));
}

TEST_CASE("a certificate is DER and has the times of RFC 5280") {
  using namespace std::chrono;
  const std::string name = element(sequence, usual_name());
  const auto good = read_certificate(certificate(name, "261121130000Z"));
  REQUIRE(good);
  CHECK(good->not_after == sys_days(2026y / November / 21) + 13h);
  CHECK(good->name == control_plane_name("tenant-a"));
  CHECK(read_certificate(certificate(name, "99991231235959Z", 0x18)).value().not_after ==
        sys_days(9999y / December / 31) + 23h + 59min + 59s);
  for (const std::string_view end : {"2611211300Z", "261121130000+0100", "261121130000-0000", "260229000000Z",
                                     "261121130060Z", "261121130000z", "", "Z"}) {
    CAPTURE(end);
    CHECK_FALSE(read_certificate(certificate(name, end)));
  }
  for (const std::string_view end : {"20261121130000.5Z", "202611211300Z", "20261121130000", "20261121130000+0100"}) {
    CAPTURE(end);
    CHECK_FALSE(read_certificate(certificate(name, end, 0x18)));
  }
  CHECK_FALSE(read_certificate(certificate(name, "261121130000Z", 0x17, "x")));
  // One whose subject is not DER may be somebody else's; it makes nobody a user here.
  const std::string odd = element(
      sequence, part(organization, "liqo.io") + element(set, element(sequence, common_name + "\x0c\x81\x01"s + "a")));
  const auto foreign = read_certificate(certificate(odd, "261121130000Z"));
  CHECK((!foreign || !foreign->name));
}

}  // namespace liqo::core
