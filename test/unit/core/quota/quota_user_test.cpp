#include "core/quota/quota_user.hpp"

#include <doctest/doctest.h>

namespace liqo::core {

TEST_CASE("a user's name becomes the value of a label") {
  CHECK(escape_user("system:custom:user") == "system-custom-user");
  CHECK(escape_user("a/b@c_d.E-9") == "a-b-c_d.E-9");
  CHECK(escape_user("").empty());
}

}  // namespace liqo::core
