#include "kube/k8s/object.hpp"

#include <doctest/doctest.h>

using namespace kube;

TEST_CASE("an owner is named once, however often it is added") {
  Object pod = Object::make(resources::pods, {"ns", "a"});
  pod.add_owner_reference({.api_version = "v1", .kind = "Node", .name = "n", .uid = "u1"});
  pod.add_owner_reference({.api_version = "v1", .kind = "Node", .name = "m", .uid = "u2"});
  pod.add_owner_reference({.api_version = "v1", .kind = "Node", .name = "n", .uid = "u1", .controller = true});
  const auto owners = pod.owner_references();
  REQUIRE(owners.size() == 2);
  CHECK(owners[0].controller);
  CHECK(owners[1].uid == "u2");
}
