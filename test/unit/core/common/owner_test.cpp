// Who owns an object.
#include "core/common/owner.hpp"

#include "../objects.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::core {

using namespace testing;

TEST_CASE("an object is controlled by the owner with the UID, and not by one of the same name or by another owner") {
  const kube::Object owner = parse(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "uid": "u1"}})");
  const kube::Object successor =
      parse(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "uid": "u2"}})");
  kube::Object owned = parse(R"({"metadata": {"name": "token"}})");
  CHECK_FALSE(is_controlled_by(owned, owner));
  owned.add_owner_reference(owner_of(owner, false));
  CHECK_FALSE(is_controlled_by(owned, owner));
  owned.add_owner_reference(blocking_owner_of(successor));
  CHECK(is_controlled_by(owned, successor));
  CHECK_FALSE(is_controlled_by(owned, owner));
}

TEST_CASE("an object is given to an owner once, which does not become its controller") {
  constexpr kube::Resource roles = api::kinds::cluster_roles;
  kube::Object owner = kube::Object::make(roles, {"", "liqo"});
  owner.mutable_metadata()["uid"] = "u1";
  const kube::Object object = parse(R"({"metadata": {"name": "hook"}})");
  CHECK_FALSE(is_owned_by(object, roles, "liqo"));
  const auto owned = owned_by(object, owner);
  REQUIRE(owned);
  CHECK(is_owned_by(*owned, roles, "liqo"));
  CHECK_FALSE(is_owned_by(*owned, roles, "other"));
  CHECK_FALSE(is_owned_by(*owned, kube::resources::namespaces, "liqo"));
  REQUIRE(owned->owner_references().size() == 1);
  CHECK(owned->owner_references()[0].api_version == "rbac.authorization.k8s.io/v1");
  CHECK_FALSE(is_controlled_by(*owned, owner));
  CHECK_FALSE(owned_by(*owned, owner));
}

}  // namespace liqo::core
