#include "core/common/home_names.hpp"

#include <doctest/doctest.h>

#include "../objects.hpp"

namespace liqo::core {
namespace {
using namespace testing;

TEST_CASE("a virtual node says whether pods there know the names of home") {
  CHECK(knows_names_of_home(parse_value(R"({"liqo.io/home-names": "true"})").get_object()));
  for (std::string_view labels : {"{}", R"({"liqo.io/home-names": "false"})", R"({"liqo.io/home-names": true})"})
    CHECK_FALSE(knows_names_of_home(parse_value(labels).get_object()));
}

TEST_CASE("it is told which names do not resolve, with what can be done about it") {
  const struct {
    TwinAtProvider twin;
    std::string_view begins, ends;
  } cases[] = {
      {{"shop", "shop", "rome", "milan"}, "", ""},
      {{"shop", "shop", "rome", "milan", true}, "", ""},
      {{"shop", "", "rome", "milan"}, "", ""},
      {{"shop", "shop-rome", "rome", "milan", true}, "", ""},
      {{"shop", "shop-rome", "rome", "milan"},
       "pods in cluster milan do not resolve names with the namespace in them, such as db.shop or "
       "db.shop.svc.cluster.local, because it is called shop-rome there: its administrator can run \"liqoctl enable "
       "home-names\" there",
       "(liqoctl peer --allow-twin-names) for the strategy EnforceSameName"},
      {{"shop", "sales", "rome", "milan", true},
       "pods in cluster milan do not resolve names such as db.shop, because it is called sales there and not shop-rome",
       ": use the strategy DefaultName"},
      {{"shop", "shop-rome", "rome", "milan", true, "cluster milan\nhas its own"},
       "pods in cluster milan find another Service by names such as db.shop: cluster milan has its own",
       "has its own"},
      // Where no name of home resolves, that is told first.
      {{"shop", "shop-rome", "rome", "milan", false, "cluster milan has its own"}, "pods in cluster milan do not", ""},
  };
  for (const auto& each : cases) {
    CAPTURE(each.twin.twin);
    const std::string words = names_not_resolved(each.twin);
    CHECK(words.empty() == each.begins.empty());
    CHECK_MESSAGE(words.starts_with(each.begins), words);
    CHECK_MESSAGE(words.ends_with(each.ends), words);
  }
}

TEST_CASE("the words of a provider are bounded") {
  const std::string many(5000, 'x');
  CHECK(names_not_resolved({"shop", "shop-rome", "rome", "milan", true, many}).size() < 400);
  CHECK(names_found_first("shop", "milan") ==
        "cluster milan has a namespace shop of its own, whose Services answer to db.shop and "
        "db.shop.svc.cluster.local first; give the namespace at home another name");
}

}  // namespace
}  // namespace liqo::core
