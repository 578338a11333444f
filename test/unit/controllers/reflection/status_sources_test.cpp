// The status of an object comes from one of several providers.
#include "controllers/reflection/status_sources.hpp"

#include <doctest/doctest.h>

namespace liqo::controllers {
namespace {

using Scope = StatusSources::Scope;
const Scope shop{"widgets.example.org", "shop"};

}  // namespace

TEST_CASE("the first provider by name is the source, and the next one when it goes") {
  StatusSources sources;
  std::string told;
  const auto join = [&](const std::string& cluster) {
    return sources.join(cluster, [&told, cluster](const Scope& scope) { told += cluster + "/" + scope.ns + " "; });
  };
  const auto milan = join("milan"), turin = join("turin");
  sources.add(shop, turin);
  CHECK(sources.is_source(shop, turin));
  sources.add(shop, milan);
  CHECK(sources.is_source(shop, milan));
  CHECK(!sources.is_source(shop, turin));
  CHECK(told == "milan/shop ");
  sources.remove(shop, milan);
  CHECK(sources.is_source(shop, turin));
  CHECK(told == "milan/shop turin/shop ");
  sources.add(shop, milan);
  sources.leave(milan);
  CHECK(told == "milan/shop turin/shop milan/shop turin/shop ");
  sources.remove(shop, turin);
  sources.remove(shop, turin);
  CHECK(sources.is_source(shop, join("anybody")));
}

TEST_CASE("of a kind that the first provider does not take the next one is the source") {
  StatusSources sources;
  std::string told;
  const auto milan = sources.join("milan", [](const Scope&) {});
  const auto turin = sources.join("turin", [&told](const Scope& scope) { told += scope.kind + "/" + scope.ns + " "; });
  const Scope gears{"gears.example.org", "shop"};
  for (const auto& source : {milan, turin}) sources.add(shop, source);
  sources.add(gears, turin);
  CHECK(sources.is_source(shop, milan));
  CHECK(sources.is_source(gears, turin));
  // Repeated, and for a scope that it did not have.
  sources.add(shop, milan);
  sources.remove(gears, milan);
  CHECK(told.empty());
  sources.remove(shop, milan);
  CHECK(sources.is_source(shop, turin));
  CHECK(told == "widgets.example.org/shop ");
}

TEST_CASE("who leaves takes nothing from who has joined for the same cluster") {
  StatusSources sources;
  int told = 0;
  const auto before = sources.join("milan", [](const Scope&) {});
  sources.add(shop, before);
  const auto after = sources.join("milan", [&told](const Scope&) { ++told; });
  sources.add(shop, after);
  sources.leave(before);
  CHECK(sources.is_source(shop, after));
  CHECK(told == 1);
}

}  // namespace liqo::controllers
