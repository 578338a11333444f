// A list of metadata is compared with copies whose versions are known.
#include "controllers/reflection/copies.hpp"

#include <doctest/doctest.h>

#include "controllers/reflection/contents.hpp"

namespace liqo::controllers {
namespace {

const kube::Resource& kind = kube::resources::config_maps;

kube::Object object(const std::string& name, const std::string& uid, std::uint64_t version) {
  kube::Object out = kube::Object::make(kind, {"twin", name});
  out.mutable_metadata()["uid"] = uid;
  out.mutable_metadata()["resourceVersion"] = std::to_string(version);
  return out;
}

struct Held {
  kube::Metrics metrics;
  std::shared_ptr<kube::StoreUse> use =
      std::make_shared<kube::StoreUse>(kube::StoreUse::Limits{2'000, 4}, metrics, "milan");
  int told = 0;
  kube::StoreBudget budget{use, [this] { ++told; }};
  bool shows(const std::string& line) const { return metrics.text().contains(line); }
};

}  // namespace

TEST_CASE("a list tells what is not as it was known") {
  struct Case {
    const char* title;
    std::uint64_t known;  ///< version of the copy with the UID "u"; 0 = none is known
    std::vector<Copies::Seen> listed;
    std::uint64_t list_version;
    std::vector<std::string> due;
    bool held;
  };
  for (const Case& c : {
           Case{"as it was", 10, {{"a", "u", 10}}, 50, {}, true},
           Case{"changed since", 10, {{"a", "u", 20}}, 50, {"a"}, true},
           Case{"replaced", 10, {{"a", "v", 20}}, 50, {"a"}, true},
           Case{"gone", 10, {}, 50, {"a"}, false},
           Case{"not gone: the list is older than our write", 10, {}, 9, {}, true},
           Case{"not changed: the list is older than our write", 10, {{"a", "u", 5}}, 9, {}, true},
           Case{"older than it was, in a list that is newer: a database that was restored",
                10,
                {{"a", "u", 5}},
                50,
                {"a"},
                true},
           Case{"somebody else's, or left by another process", 0, {{"a", "u", 10}}, 50, {"a"}, true},
           Case{"nothing", 0, {}, 50, {}, false},
       }) {
    CAPTURE(c.title);
    Held held;
    Copies copies(held.budget, kind, "twin");
    if (c.known) copies.settle(object("a", "u", c.known), "wish", 3);
    CHECK(copies.compare(c.listed, c.list_version) == c.due);
    CHECK((copies.find("a") != nullptr) == c.held);
    if (c.held) CHECK(copies.find("a")->settled_for.has_value() == c.due.empty());
    // A difference that was returned once is not returned again.
    CHECK(copies.compare(c.listed, c.list_version).empty());
  }
}

TEST_CASE("a copy is settled for one wish, until it is doubted") {
  Held held;
  Copies copies(held.budget, kind, "twin");
  CHECK(copies.empty());
  copies.find_there(object("a", "u", 4));
  REQUIRE(copies.find("a"));
  CHECK_FALSE(copies.find("a")->settled_for);
  copies.settle(object("a", "u", 5), "wish", 7);
  CHECK(copies.find("a")->settled_for == "wish");
  CHECK(copies.newest() == 5);
  copies.settle_source("a", 8);
  CHECK(copies.find("a")->source == 8);
  copies.doubt_sources();
  CHECK(copies.find("a")->source != 8);
  CHECK(copies.find("a")->settled_for == "wish");
  copies.doubt("a");
  CHECK_FALSE(copies.find("a")->settled_for);
  copies.settle_source("b", 8);
  CHECK(copies.names() == std::vector<std::string>{"a"});
  copies.doubt("b");
  CHECK(copies.names() == std::vector<std::string>{"a", "b"});
  copies.erase("c");
  copies.erase("a");
  copies.clear();
  CHECK(copies.empty());
}

TEST_CASE("what is held of copies counts, and is given back") {
  Held held;
  {
    Copies copies(held.budget, kind, "twin");
    for (const char* name : {"a", "b", "c", "d"}) copies.settle(object(name, "uid", 1), "wish", 1);
    CHECK(held.told == 0);
    CHECK(held.shows("kube_store_budget_objects{cluster=\"milan\"} 4"));
    copies.erase("a");
    CHECK(held.shows("kube_store_budget_objects{cluster=\"milan\"} 3"));
    copies.find_there(object("e", std::string(3'000, 'u'), 1));
    CHECK(held.told == 1);
    CHECK(held.budget.exceeded_by() == "configmaps of twin");
  }
  CHECK(held.shows("kube_store_budget_bytes{cluster=\"milan\"} 0"));
  CHECK(held.shows("kube_store_budget_objects{cluster=\"milan\"} 0"));
}

TEST_CASE("content is held up to a limit that all share, and given back") {
  std::size_t total = 0;
  const std::string half(Contents::max_bytes / 2, 'x');
  {
    Contents here(total), there(total);
    here.put("a", half);
    here.put("a", half);
    CHECK(total == half.size());
    there.put("b", half);
    there.put("c", "one too many");
    CHECK(total == Contents::max_bytes);
    CHECK(there.take("c").empty());
    CHECK(here.take("a") == half);
    CHECK(here.take("a").empty());
    there.put("c", "now it fits");
    CHECK(total == half.size() + 11);
  }
  CHECK(total == 0);
}

TEST_CASE("content of a peer takes half of its account at most") {
  std::size_t total = 0;
  const auto account = std::make_shared<kube::MemoryAccount>("milan", 100, nullptr);
  Contents there(total, account);
  there.put("a", std::string(40, 'x'));
  there.put("b", std::string(11, 'x'));
  CHECK(account->held() == 40);
  CHECK(there.take("b").empty());
  CHECK(there.take("a").size() == 40);
  CHECK(account->held() == 0);
  // Reading has the other half.
  REQUIRE(!account->try_take(45));
  there.put("a", "too much");
  CHECK(total == 0);
  there.put("a", "fits");
  there.clear();
  CHECK(account->held() == 45);
}

}  // namespace liqo::controllers
