// The amounts that stored ShadowPods and Pods hold, in every order in which caches may show them.
#include "core/quota/account.hpp"

#include <doctest/doctest.h>

namespace liqo::core {
namespace {

const kube::ObjectKey key{"shop", "web"};

Resources cpu(std::int64_t cores) { return {{"cpu", kube::Quantity(cores)}, {"pods", kube::Quantity(1)}}; }

std::optional<HeldShadow> shadow(std::string uid, std::int64_t cores = 1, bool finished = false) {
  return HeldShadow{.uid = std::move(uid), .user = "u", .demand = cpu(cores), .finished = finished, .version = 7};
}

std::optional<HeldPod> pod(std::string uid, std::string shadow_uid, std::int64_t cores = 1, bool finished = false) {
  return HeldPod{.uid = std::move(uid),
                 .shadow_uid = std::move(shadow_uid),
                 .user = "u",
                 .demand = cpu(cores),
                 .finished = finished};
}

/// ShadowPod s1 as it asks at a generation, and its Pod as it has what a generation asked for.
std::optional<HeldShadow> asks(std::int64_t cores, std::int64_t generation) {
  auto held = shadow("s1", cores);
  held->generation = generation;
  return held;
}

std::optional<HeldPod> has(std::int64_t cores, std::optional<std::int64_t> generation, std::string uid = "p1") {
  auto held = pod(std::move(uid), "s1", cores);
  held->generation = generation;
  return held;
}

std::int64_t cores(const QuotaAccount& account) { return amount(account.used("u"), "cpu").value(); }

TEST_CASE("a pod holds the larger of ShadowPod and Pod, once") {
  QuotaAccount account;
  CHECK_FALSE(account.set(key, shadow("s1", 1), {}));
  CHECK(cores(account) == 1);
  CHECK_FALSE(account.set(key, shadow("s1", 1), pod("p1", "s1", 3)));
  CHECK(cores(account) == 3);
  CHECK(account.pods("u") == 1);
  CHECK(amount(account.used("u"), "pods") == kube::Quantity(1));
}

TEST_CASE("a ShadowPod that shrinks counts with the most that it asked for until its Pod has what it asks for now") {
  QuotaAccount account;
  account.set(key, asks(1, 1), has(1, 1));
  account.set(key, asks(5, 2), has(1, 1));
  CHECK(cores(account) == 5);
  // The cache of Pods may be behind, and the Pod may have five by now.
  account.set(key, asks(1, 3), has(1, 1));
  CHECK(cores(account) == 5);
  account.set(key, asks(1, 3), has(5, 2));
  CHECK(cores(account) == 5);
  account.set(key, asks(1, 3), has(1, 0));
  CHECK(cores(account) == 5);
  account.set(key, asks(1, 3), has(1, 3));
  CHECK(cores(account) == 1);
  // What surrounds it may make it smaller at any time.
  account.set(key, shadow("s1", 0), has(0, 3));
  CHECK(cores(account) == 0);
  // A Pod of another version is never resized.
  account.set(key, asks(1, 4), has(2, {}));
  CHECK(cores(account) == 2);
  // Without a Pod it may be on its way with what was asked for before; one that goes takes its most with it.
  account.set(key, {}, {});
  account.confirm_gone(key);
  account.set(key, asks(4, 1), {});
  account.set(key, asks(1, 2), {});
  CHECK(cores(account) == 4);
  CHECK(account.set(key, {}, {}));
  CHECK(cores(account) == 4);
  account.confirm_gone(key);
  CHECK(account.used("u").empty());
}

TEST_CASE("a Pod that outlives its ShadowPod counts with what it may have got of it last") {
  QuotaAccount account;
  SUBCASE("the cache of Pods was behind when the ShadowPod went") {
    account.set(key, asks(1, 1), has(1, 1));
    account.set(key, asks(5, 2), has(1, 1));
    CHECK_FALSE(account.set(key, {}, has(1, 1)));
    CHECK(cores(account) == 5);
    // And beside a successor of the same name.
    account.set(key, shadow("s2", 2), has(1, 1));
    CHECK(cores(account) == 7);
    account.set(key, shadow("s2", 2), has(5, 2));
    CHECK(cores(account) == 7);
    account.set(key, shadow("s2", 2), pod("p2", "s2", 2));
    CHECK(cores(account) == 2);
  }
  SUBCASE("its Pod is seen as it was at first") {
    account.set(key, asks(1, 1), {});
    account.set(key, asks(5, 2), {});
    CHECK(account.set(key, {}, {}));
    CHECK_FALSE(account.set(key, {}, has(1, 1)));
    CHECK(cores(account) == 5);
    account.set(key, {}, {});
    CHECK(account.used("u").empty());
  }
  SUBCASE("its Pod has had it") {
    account.set(key, asks(5, 2), has(5, 2));
    account.set(key, {}, has(5, 2));
    CHECK(cores(account) == 5);
    account.set(key, {}, has(1, 2));
    CHECK(cores(account) == 1);
  }
  SUBCASE("another one made for it later is known with all that it has") {
    account.set(key, asks(1, 1), has(1, 1));
    account.set(key, asks(5, 2), has(1, 1));
    account.set(key, {}, has(1, 1));
    account.set(key, {}, has(2, 1, "p2"));
    CHECK(cores(account) == 2);
  }
}

TEST_CASE("a Pod holds its share until it is gone, also without its ShadowPod") {
  QuotaAccount account;
  account.set(key, shadow("s1"), pod("p1", "s1"));
  CHECK_FALSE(account.set(key, {}, pod("p1", "s1")));
  CHECK(cores(account) == 1);
  CHECK_FALSE(account.set(key, {}, {}));
  CHECK(account.used("u").empty());
  CHECK(account.pods("u") == 0);
}

TEST_CASE("a terminating Pod and its successor of the same name count both") {
  QuotaAccount account;
  account.set(key, shadow("s1", 2), pod("p1", "s1", 2));
  account.set(key, shadow("s2", 3), pod("p1", "s1", 2));
  CHECK(cores(account) == 5);
  account.set(key, shadow("s2", 3), {});
  CHECK(cores(account) == 3);
}

TEST_CASE("a ShadowPod that vanishes before its Pod was seen counts until the Pod is known to be gone") {
  QuotaAccount account;
  account.set(key, shadow("s1", 2), {});
  CHECK(account.set(key, {}, {}));
  CHECK(cores(account) == 2);
  SUBCASE("there is none") {
    account.confirm_gone(key);
    CHECK(account.used("u").empty());
  }
  SUBCASE("the Pod shows up late") {
    CHECK_FALSE(account.set(key, {}, pod("p1", "s1", 2)));
    CHECK(cores(account) == 2);
    account.set(key, {}, {});
    CHECK(account.used("u").empty());
  }
  SUBCASE("a successor is stored meanwhile") {
    CHECK(account.set(key, shadow("s2", 3), {}));
    CHECK(cores(account) == 5);
    account.confirm_gone(key);
    CHECK(cores(account) == 3);
  }
}

TEST_CASE("the Pod of a predecessor is not the Pod of a ShadowPod that vanishes") {
  QuotaAccount account;
  account.set(key, shadow("s2", 2), pod("p1", "s1", 1, true));
  CHECK(account.set(key, {}, pod("p1", "s1", 1, true)));
  CHECK(cores(account) == 2);
  account.confirm_gone(key);
  CHECK(cores(account) == 0);
}

TEST_CASE("a finished pod holds nothing, whichever object says so first") {
  QuotaAccount account;
  account.set(key, shadow("s1"), pod("p1", "s1", 1, true));
  CHECK(account.used("u").empty());
  account.set(key, shadow("s1", 1, true), pod("p1", "s1", 1, true));
  CHECK(account.used("u").empty());
  account.set(key, shadow("s1", 1, true), {});
  CHECK(account.used("u").empty());
  CHECK_FALSE(account.set(key, {}, {}));
}

TEST_CASE("every UID that was stored is known afterwards, with its version") {
  QuotaAccount account;
  CHECK(account.seen_version("s1") == 0);
  account.set(key, shadow("s1"), {});
  CHECK(account.seen_version("s1") == 7);
  account.set(key, {}, {});
  CHECK(account.seen_version("s1") == 7);
}

TEST_CASE("repeating a state changes nothing") {
  QuotaAccount account;
  for (int i = 0; i < 3; ++i) account.set(key, shadow("s1", 2), pod("p1", "s1", 2));
  CHECK(cores(account) == 2);
  for (int i = 0; i < 3; ++i) account.set(key, {}, {});
  CHECK(account.used("u").empty());
}

}  // namespace
}  // namespace liqo::core
