// Who owns an object.
#include "liqo/core/owner.hpp"

#include "objects.hpp"

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

}  // namespace liqo::core
