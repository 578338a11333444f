// A value that a reader keeps of each object.
#include "kube/runtime/view.hpp"

#include <doctest/doctest.h>

#include "runtime_fixture.hpp"

using namespace kube;
using namespace kube::testing;
using namespace std::chrono_literals;

TEST_CASE("a view holds what is derived of each object, and tells what it was before") {
  RuntimeFixture f;
  InformerSet set(f.simulator.executor(), f.api, f.metrics);
  f.create("a");
  f.group.spawn(set.run());
  InformerHandle other = set.acquire({.resource = widgets});
  REQUIRE(f.reaches([&] { return set.has_synced(); }));

  int derived = 0;
  std::string told;
  InformerHandle objects = set.acquire({.resource = widgets});
  const View<std::string> view(
      objects,
      [&](const Object& object) {
        ++derived;
        return std::string(object.name()) + std::to_string(int_at(object.spec(), {"size"}));
      },
      [&](const ObjectKey& key, const std::string* before, const std::string* now) {
        told += key.name + ":" + (before ? *before : "-") + ">" + (now ? *now : "-") + " ";
      });
  // For what was there `changed` is not called.
  REQUIRE(view.find({"d", "a"}));
  CHECK(*view.find({"d", "a"}) == "a0");
  CHECK(told.empty());

  f.create("b");
  CHECK(f.reaches([&] { return view.all().size() == 2; }));
  f.set("a", 7);
  CHECK(f.reaches([&] { return *view.find({"d", "a"}) == "a7"; }));
  f.remove("b");
  CHECK(f.reaches([&] { return view.all().size() == 1; }));
  CHECK(told == "b:->b0 a:a0>a7 b:b0>- ");
  CHECK(!view.find({"d", "b"}));
  // Looking derives nothing.
  CHECK(derived == 3);
  f.simulator.run(f.group.stop());
}
