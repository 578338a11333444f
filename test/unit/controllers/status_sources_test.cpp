// Of several providers one says what the status of an object is.
#include "liqo/controllers/status_sources.hpp"

#include <doctest/doctest.h>

namespace liqo::controllers {

TEST_CASE("the first provider by name is the source, and the next one when it goes") {
  StatusSources sources;
  std::string told;
  for (const char* cluster : {"milan", "turin"})
    sources.join(cluster, [&told, cluster](const std::string& ns) { told += std::string(cluster) + "/" + ns + " "; });
  sources.add("shop", "turin");
  CHECK(sources.is_source("shop", "turin"));
  sources.add("shop", "milan");
  CHECK(sources.is_source("shop", "milan"));
  CHECK(!sources.is_source("shop", "turin"));
  CHECK(told == "milan/shop ");
  sources.remove("shop", "milan");
  CHECK(sources.is_source("shop", "turin"));
  CHECK(told == "milan/shop turin/shop ");
  sources.add("shop", "milan");
  sources.leave("milan");
  CHECK(told == "milan/shop turin/shop milan/shop turin/shop ");
  sources.remove("shop", "turin");
  sources.remove("shop", "turin");
  CHECK(sources.is_source("shop", "anybody"));
}

}  // namespace liqo::controllers
