#include "core/common/secret_bytes.hpp"

#include "../objects.hpp"

namespace liqo::core {

using namespace testing;

TEST_CASE("the bytes of a Secret are those of data, and empty where there are none") {
  const kube::Object secret = parse(R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"},
    "data": {"good": "dGV4dA==", "bad": "dGV4d", "number": 1}, "stringData": {"plain": "text"}})");
  CHECK(secret_bytes(secret, "good") == "text");
  for (const std::string_view key : {"bad", "number", "plain", "absent"}) CHECK(secret_bytes(secret, key).empty());
}

}  // namespace liqo::core
