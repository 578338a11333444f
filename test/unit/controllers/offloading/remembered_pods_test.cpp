// The memory of a pod belongs to its UID, and ends with it.
#include "controllers/offloading/remembered_pods.hpp"

#include <doctest/doctest.h>

#include <string_view>

namespace liqo::controllers {
namespace {

kube::Object make(std::string_view uid) {
  kube::Object pod = kube::Object::make(kube::resources::pods, {"shop", "web"});
  pod.mutable_metadata()["uid"] = uid;
  return pod;
}

}  // namespace

TEST_CASE("of a pod nothing is remembered that another one of its name has done") {
  RememberedPods memory;
  const kube::Object first = make("u1"), second = make("u2");
  CHECK(memory.find(first) == nullptr);
  CHECK_FALSE(memory.contains(first.key()));
  memory.of(first).plan.shadow_created = true;
  memory.of(first).refused.refused("1f", {});
  CHECK(memory.of(first.key(), "u1").plan.shadow_created);
  CHECK(memory.find(second) == nullptr);
  REQUIRE(memory.find(first.key()) != nullptr);
  CHECK(memory.find(first.key())->uid == "u1");
  // It replaces the first one, even for a caller that looks it up after an await.
  CHECK_FALSE(memory.of(second).plan.shadow_created);
  CHECK_FALSE(memory.of(second).refused.refused_at().has_value());
  CHECK(memory.find(first) == nullptr);
  CHECK(memory.find(second) == memory.find(second.key()));
  memory.forget(second.key());
  CHECK(memory.find(second.key()) == nullptr);
}

TEST_CASE("who begins to lead has seen nothing at the provider, and knows all else") {
  RememberedPods memory;
  const kube::Object pod = make("u1");
  memory.of(pod).plan.seen = true;
  memory.of(pod).plan.sent = true;
  memory.forget_sights();
  CHECK_FALSE(memory.of(pod).plan.seen);
  CHECK(memory.of(pod).plan.sent);
}

}  // namespace liqo::controllers
