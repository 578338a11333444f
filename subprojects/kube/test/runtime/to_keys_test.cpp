#include "kube/runtime/to_keys.hpp"

#include <doctest/doctest.h>

#include "runtime_fixture.hpp"

using namespace kube;
using namespace kube::testing;

namespace {

using Keys = std::vector<ObjectKey>;

constexpr Resource clusters{"example.io", "v1", "clusters", "Cluster", false};
const ObjectKey owned{"d", "owned"};

Object owned_by(std::initializer_list<OwnerReference> owners) {
  Object object = Object::make(resources::config_maps, owned);
  for (const OwnerReference& owner : owners) object.add_owner_reference(owner);
  return object;
}

Keys owners_of(const Object* before, const Object* now, const Resource& kind) {
  const Change change(owned, now, before ? before->text() : "");
  return to_owner(kind)(change);
}

}  // namespace

TEST_CASE("an owner is named by its kind and group, in any version and whether or not it controls") {
  const OwnerReference a{.api_version = "example.io/v1", .kind = "Widget", .name = "a", .uid = "1", .controller = true};
  const OwnerReference older{.api_version = "example.io/v1beta1", .kind = "Widget", .name = "b", .uid = "2"};
  const OwnerReference other_group{.api_version = "example.com/v1", .kind = "Widget", .name = "c", .uid = "3"};
  const OwnerReference other_kind{.api_version = "example.io/v1", .kind = "Cluster", .name = "e", .uid = "4"};
  const OwnerReference pod{.api_version = "v1", .kind = "Pod", .name = "p", .uid = "5"};
  const Object object = owned_by({a, older, other_group, other_kind, pod});
  CHECK(owners_of(nullptr, &object, widgets) == Keys{{"d", "a"}, {"d", "b"}});
  CHECK(owners_of(nullptr, &object, clusters) == Keys{{"", "e"}});
  CHECK(owners_of(nullptr, &object, resources::pods) == Keys{{"d", "p"}});
  CHECK(owners_of(nullptr, &object, resources::secrets).empty());
}

TEST_CASE("the owner of what is gone, and one that was replaced, are named as well") {
  const Object of_a = owned_by({{.api_version = "example.io/v1", .kind = "Widget", .name = "a", .uid = "1"}});
  const Object of_b = owned_by({{.api_version = "example.io/v1", .kind = "Widget", .name = "b", .uid = "2"}});
  CHECK(owners_of(&of_a, nullptr, widgets) == Keys{{"d", "a"}});
  CHECK(owners_of(&of_a, &of_b, widgets) == Keys{{"d", "b"}, {"d", "a"}});
  CHECK(owners_of(&of_a, &of_a, widgets) == Keys{{"d", "a"}});
}
