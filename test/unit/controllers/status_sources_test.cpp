// Of several providers one says what the status of an object is.
#include "liqo/controllers/status_sources.hpp"

#include <doctest/doctest.h>

namespace liqo::controllers {

TEST_CASE("the first provider by name is the source, and the next one when it goes") {
  StatusSources sources;
  std::string told;
  const auto join = [&](const std::string& cluster) {
    return sources.join(cluster, [&told, cluster](const std::string& ns) { told += cluster + "/" + ns + " "; });
  };
  const auto milan = join("milan"), turin = join("turin");
  sources.add("shop", turin);
  CHECK(sources.is_source("shop", turin));
  sources.add("shop", milan);
  CHECK(sources.is_source("shop", milan));
  CHECK(!sources.is_source("shop", turin));
  CHECK(told == "milan/shop ");
  sources.remove("shop", milan);
  CHECK(sources.is_source("shop", turin));
  CHECK(told == "milan/shop turin/shop ");
  sources.add("shop", milan);
  sources.leave(milan);
  CHECK(told == "milan/shop turin/shop milan/shop turin/shop ");
  sources.remove("shop", turin);
  sources.remove("shop", turin);
  CHECK(sources.is_source("shop", join("anybody")));
}

TEST_CASE("who leaves takes nothing from who has joined for the same cluster") {
  StatusSources sources;
  int told = 0;
  const auto before = sources.join("milan", [](const std::string&) {});
  sources.add("shop", before);
  const auto after = sources.join("milan", [&told](const std::string&) { ++told; });
  sources.add("shop", after);
  sources.leave(before);
  CHECK(sources.is_source("shop", after));
  CHECK(told == 1);
}

}  // namespace liqo::controllers
