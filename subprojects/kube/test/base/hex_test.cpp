#include "kube/base/hex.hpp"

#include <doctest/doctest.h>

TEST_CASE("bytes are two digits each, and a number has as many as it is asked for") {
  CHECK(kube::hex("") == "");
  CHECK(kube::hex(std::string_view("\x00\x0f\xff", 3)) == "000fff");
  CHECK(kube::hex(0xabc, 2) == "bc");
  CHECK(kube::hex(0xabc, 4) == "0abc");
  CHECK(kube::hex(0xfedcba9876543210, 16) == "fedcba9876543210");
}
