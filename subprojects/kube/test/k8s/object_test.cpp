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

TEST_CASE("an element of a list is told what it is") {
  auto lease = Object::parse(R"({"metadata": {"name": "a", "namespace": "ns"}, "spec": {"holderIdentity": "b"}})");
  REQUIRE(lease.has_value());
  CHECK(lease->kind().empty());
  lease->set_kind(resources::leases);
  CHECK(lease->api_version() == "coordination.k8s.io/v1");
  CHECK(lease->kind() == "Lease");
  CHECK(string_at(lease->spec(), {"holderIdentity"}) == "b");
  lease->set_kind(resources::pods);
  CHECK(lease->api_version() == "v1");
  CHECK(lease->kind() == "Pod");
}

TEST_CASE("a version is a number, and 0 where it is none") {
  CHECK(version_number("1042") == 1042);
  CHECK(version_number("18446744073709551615") == 18446744073709551615U);
  for (const char* none : {"", "-1", "18446744073709551616", "12a", " 12"})
    CHECK_MESSAGE(version_number(none) == 0, none);
  CHECK(Object::parse(R"({"metadata": {"name": "a", "resourceVersion": "7"}})")->version_number() == 7);
  CHECK(Object::make(resources::pods, {"ns", "a"}).version_number() == 0);
}

TEST_CASE("labels that are set together leave the others, and skip what is no string") {
  Object pod = Object::make(resources::pods, {"ns", "a"});
  pod.set_label("kept", "1");
  pod.set_label("changed", "1");
  pod.set_labels({{"changed", "2"}, {"new", "3"}, {"odd", 4}});
  CHECK(pod.labels() == json::object{{"kept", "1"}, {"changed", "2"}, {"new", "3"}});
}

TEST_CASE("an object that is copied or replaced grows no memory but its own") {
  Object parsed = *Object::parse(R"({"metadata":{"name":"a"},"data":{"key":"value"}})");
  const auto arena = parsed.tree().storage();
  REQUIRE(arena != json::storage_ptr());
  const Object copy = parsed;
  CHECK(copy.tree().storage() == json::storage_ptr());
  Object assigned;
  assigned = parsed;
  CHECK(assigned.tree().storage() == json::storage_ptr());
  CHECK(assigned.text() == parsed.text());

  // A new state brings its own, and that of the old one goes.
  Object next = *Object::parse(R"({"metadata":{"name":"b"}})");
  const auto of_next = next.tree().storage();
  parsed = std::move(next);
  CHECK(parsed.name() == "b");
  CHECK(parsed.tree().storage() == of_next);
  CHECK(arena.get() != of_next.get());
  std::optional<Object> held = copy;
  held = std::move(parsed);
  CHECK(held->tree().storage() == of_next);
}
