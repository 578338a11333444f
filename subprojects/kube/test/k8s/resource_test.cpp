#include "kube/k8s/resource.hpp"

#include <doctest/doctest.h>

using namespace kube;

TEST_CASE("the key of a namespaced object is read from its text, and nothing from other texts") {
  const ObjectKey key{"shop", "web.v1"};
  CHECK(ObjectKey::parse(key.text()) == key);
  CHECK(ObjectKey::parse("a/b") == ObjectKey{"a", "b"});
  for (const char* text : {"", "/", "a", "a/", "/b", "a//b", "a/b/", "/a/b", "a/b/c"}) {
    CAPTURE(text);
    CHECK_FALSE(ObjectKey::parse(text));
  }
}
