#include "kube/k8s/finalizer.hpp"

#include <doctest/doctest.h>

using namespace kube;

TEST_CASE("a patch of finalizers keeps those of others, and holds for what was looked at") {
  const Object object(
      parse_json(R"({"metadata": {"name": "a", "uid": "u", "resourceVersion": "7", "finalizers": ["x/y", 3]}})")
          .value()
          .as_object());
  auto patch = finalizer_patch(object, "a/b", true);
  REQUIRE(patch);
  CHECK(array_at(*patch, {"metadata", "finalizers"}) == json::array{"x/y", 3, "a/b"});
  CHECK(string_at(*patch, {"metadata", "resourceVersion"}) == "7");
  CHECK(string_at(*patch, {"metadata", "uid"}) == "u");
  patch = finalizer_patch(object, "x/y", false);
  REQUIRE(patch);
  CHECK(array_at(*patch, {"metadata", "finalizers"}) == json::array{3});
  CHECK_FALSE(finalizer_patch(object, "x/y", true));
  CHECK_FALSE(finalizer_patch(object, "a/b", false));
}
