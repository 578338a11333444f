// SHA-256 against the examples of FIPS 180-4, and the digest that only shows changes.
#include "core/common/digest.hpp"
#include <doctest/doctest.h>

namespace liqo::core {

TEST_CASE("SHA-256 has the values of the standard's examples") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256_hex(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("the change digest is 16 hex digits and differs for different texts") {
  CHECK(digest_hex("").size() == 16);
  CHECK(digest_hex("a") != digest_hex("b"));
  CHECK(digest_hex("a") == digest_hex("a"));
}

}  // namespace liqo::core
