#include "kube/base/scalar.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

namespace kube {

TEST_CASE("a number is the whole text") {
  CHECK(read_number<int>("0") == 0);
  CHECK(read_number<int>("-12") == -12);
  CHECK(read_number<std::int64_t>("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  CHECK(read_number<std::uint64_t>("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
  for (const char* bad : {"", "-", "+1", " 1", "1 ", "1s", "0x10", "one", "1.5", "9223372036854775808"}) {
    CAPTURE(bad);
    CHECK_FALSE(read_number<std::int64_t>(bad));
  }
  CHECK_FALSE(read_number<std::uint64_t>("-1"));
  CHECK_FALSE(read_number<int>(std::string_view("1\0", 2)));
}

TEST_CASE("truth values are spelled as Go takes them") {
  for (const char* yes : {"1", "t", "T", "true", "True", "TRUE"}) CHECK(read_bool(yes) == true);
  for (const char* no : {"0", "f", "F", "false", "False", "FALSE"}) CHECK(read_bool(no) == false);
  for (const char* neither : {"", "yes", "tRUE", "on", "2", " true"}) CHECK_FALSE(read_bool(neither));
}

}  // namespace kube
