// Which twins stay because they hold data, and how that is reported.
#include "core/namespaces/held_twins.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

storage::RemoteData data(std::string_view ns, std::string_view twin, std::string_view cluster = "milan") {
  return {.cluster = std::string(cluster),
          .twin = std::string(twin),
          .claim = {std::string(ns), "data"},
          .claim_uid = "c1",
          .volume = "pvc-c1",
          .has_claim = true,
          .outlasts = false};
}

}  // namespace

TEST_CASE("a twin is held by data that is in it") {
  const WantedTwins current{{"shop", "shop-rome"}, {"mail", "mail-rome"}};
  struct Case {
    const char* title;
    storage::RemoteData data;
    bool expected;
  };
  const Case cases[] = {
      {"in it", data("shop", "shop-rome"), true},
      {"by one of the Go version, which does not say its name", data("shop", ""), true},
      {"in a twin that had another name", data("shop", "store"), false},
      {"of a retained volume that was taken from its claim", data("", "shop-rome"), true},
      {"of one that was given to a claim elsewhere", data("bank", "shop-rome"), true},
      {"in that of another cluster", data("shop", "shop-rome", "turin"), false},
      {"in a twin that is not asked for: it has gone", data("blog", "blog-rome"), false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const std::vector<storage::RemoteData> all{c.data};
    const HeldTwins held = held_twins(all, "milan", current);
    CHECK(held.contains("shop") == c.expected);
    CHECK(held.size() == (c.expected ? 1 : 0));
  }
}

TEST_CASE("what is held is asked for beside what is wanted, by the name that it has") {
  const WantedTwins current{{"shop", "shop-rome"}, {"mail", "mail-rome"}, {"blog", "blog-rome"}};
  const std::vector<storage::RemoteData> all{data("shop", "shop-rome"), data("mail", "mail-rome")};
  const HeldTwins held = held_twins(all, "milan", current);
  TwinWish wish;
  wish.twins = {{"mail", "store"}, {"news", "news-rome"}};
  wish.leaving.emplace("shop", TwinWish::Leaving{});
  wish.leaving.emplace("blog", TwinWish::Leaving{});
  keep_held(wish, held, current);
  CHECK(wish.twins == WantedTwins{{"shop", "shop-rome"}, {"mail", "mail-rome"}, {"news", "news-rome"}});
  // It does not go: no report says that it will.
  CHECK_FALSE(wish.leaving.contains("shop"));
  CHECK(wish.leaving.contains("blog"));
}

TEST_CASE("a twin that holds data comes before one that is to be made") {
  const WantedTwins current{{"shop", "shop-rome"}};
  const std::vector<storage::RemoteData> all{data("shop", "shop-rome")};
  TwinWish wish;
  for (std::size_t i = 0; i < max_mappings; ++i) wish.twins.emplace("x" + std::to_string(i), "t" + std::to_string(i));
  keep_held(wish, held_twins(all, "milan", current), current);
  CHECK(wish.twins.size() == max_mappings);
  CHECK(wish.twins.contains("shop"));
}

TEST_CASE("who is told that a twin stays is told of the volumes, and of the ways out") {
  const std::vector<storage::RemoteData> all{data("shop", "shop-rome")};
  const std::string told = why_held("shop", all);
  for (const char* words : {"shop/data in milan", "liqoctl move volume", "liqoctl unoffload namespace shop --delete-"})
    CHECK_MESSAGE(told.find(words) != std::string::npos, words);
}

}  // namespace liqo::core
