#include "kube/runtime/store.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>

using namespace kube;

namespace {

Object pod(const char* name, const char* version, const char* node = "n1", const char* uid = "u1") {
  Object made = Object::make(resources::pods, {"ns", name});
  made.mutable_metadata()["resourceVersion"] = version;
  made.mutable_metadata()["uid"] = uid;
  made.mutable_spec()["nodeName"] = node;
  return made;
}
const ObjectKey a{"ns", "a"};

void index_name(const Object& object, std::vector<std::string>& out) { out.emplace_back(object.name()); }
void index_node(const Object& object, std::vector<std::string>& out) {
  out.emplace_back(string_at(object.tree(), {"spec", "nodeName"}));
}

}  // namespace

TEST_CASE("an older state never replaces a newer one") {
  Store store;
  CHECK(store.put(pod("a", "10")));
  CHECK_FALSE(store.put(pod("a", "9")));
  CHECK_FALSE(store.put(pod("a", "10")));
  CHECK(store.find(a)->resource_version() == "10");
  CHECK(store.put(pod("a", "11")));
  CHECK(store.find(a)->resource_version() == "11");
}

TEST_CASE("a late deletion does not remove what was created after it") {
  Store store;
  store.put(pod("a", "20", "n1", "successor"));
  CHECK_FALSE(store.remove(a, 15));
  CHECK(store.uid(a) == "successor");
  CHECK(store.remove(a, 21));
  CHECK(store.size() == 0);
  CHECK(store.bytes() == 0);
}

TEST_CASE("a complete list removes what it does not hold, except what is newer than it") {
  Store store;
  store.put(pod("a", "5"));
  store.put(pod("b", "6"));
  store.put(pod("written-meanwhile", "40"));
  const std::string before = store.find(a)->text();
  const auto gone = store.retain({{"ns", "b"}}, 30);
  CHECK(gone == std::vector<std::pair<ObjectKey, Store::PreviousText>>{{a, before}});
  CHECK(store.contains({"ns", "b"}));
  CHECK(store.contains({"ns", "written-meanwhile"}));
}

TEST_CASE("an index follows changes and removals") {
  Store store;
  store.add_index("node", [](const Object& object, std::vector<std::string>& out) {
    out.emplace_back(string_at(object.tree(), {"spec", "nodeName"}));
  });
  store.put(pod("a", "1", "n1"));
  store.put(pod("b", "2", "n1"));
  CHECK(store.keys("node", "n1").size() == 2);
  store.put(pod("a", "3", "n2"));
  CHECK(store.keys("node", "n1") == std::vector<ObjectKey>{{"ns", "b"}});
  CHECK(store.keys("node", "n2") == std::vector<ObjectKey>{a});
  store.remove(a, 4);
  CHECK(store.keys("node", "n2").empty());
}

TEST_CASE("fields that nobody here knows survive the store") {
  Store store;
  Object object = pod("a", "1");
  object.mutable_spec()["aFieldOfTheFuture"] = json::object{{"deep", json::array{1, 2.5, nullptr}}};
  store.put(object);
  CHECK(store.find(a)->tree() == object.tree());
}

TEST_CASE("an index that comes later has what is stored already") {
  Store store;
  store.put(pod("a", "1", "n1"));
  const auto by_node = [](const Object& object, std::vector<std::string>& out) {
    out.emplace_back(string_at(object.tree(), {"spec", "nodeName"}));
  };
  store.add_index("node", by_node);
  CHECK(store.keys("node", "n1") == std::vector<ObjectKey>{a});
  // The same again is shared; another by its name is a mistake.
  store.add_index("node", by_node);
  CHECK_THROWS_AS(store.add_index("node", [](const Object&, std::vector<std::string>&) {}), std::logic_error);
}

TEST_CASE("two plain functions are not one index") {
  Store store;
  store.add_index("names", index_name);
  store.add_index("names", index_name);
  CHECK_THROWS_AS(store.add_index("names", index_node), std::logic_error);
}

TEST_CASE("a store that has forgotten its versions keeps its objects and takes any state for newer") {
  Store store;
  store.put(pod("a", "100"));
  store.put(pod("b", "101"));
  store.forget_versions();
  CHECK(store.size() == 2);
  CHECK(store.put(pod("a", "7")));
  CHECK(store.version(a) == 7);
  const auto gone = store.retain({a}, 9);
  REQUIRE(gone.size() == 1);
  CHECK(gone.front().first == ObjectKey{"ns", "b"});
}

TEST_CASE("of two objects of one name and version the later word counts") {
  Store store;
  store.put(pod("a", "100", "n1", "u1"));
  CHECK(store.put(pod("a", "100", "n1", "u2")));
  CHECK(store.uid(a) == "u2");
}

TEST_CASE("a change and a removal answer with what was there before") {
  Store store;
  CHECK(store.put(pod("a", "1", "n1")) == Store::PreviousText());
  const std::string first = store.find(a)->text();
  CHECK(store.put(pod("a", "2", "n2")) == first);
  const std::string second = store.find(a)->text();
  CHECK(store.remove(a, 3) == second);
  CHECK_FALSE(store.remove(a, 4));
}

TEST_CASE("a namespace has its keys without an index, in order, and none of its neighbours'") {
  Store store;
  for (const auto& [ns, name] : {std::pair("ns", "b"), {"ns", "a"}, {"ns-2", "c"}, {"n", "d"}}) {
    Object object = Object::make(resources::pods, {ns, name});
    store.put(object);
  }
  CHECK(store.keys_in("ns") == std::vector<ObjectKey>{{"ns", "a"}, {"ns", "b"}});
  CHECK(store.keys_in("other").empty());
  CHECK(store.keys_in("").size() == 4);
  CHECK(store.count_in("ns") == 2);
  CHECK(store.count_in("other") == 0);
  CHECK(store.count_in("") == 4);
}

TEST_CASE("objects are gone through as they are at their turn, and may be taken") {
  Store store;
  store.put(pod("a", "1", "n1"));
  store.put(pod("b", "2", "n1"));
  store.put(pod("c", "3", "n1"));
  std::vector<Object> taken;
  for (Object& object : store.objects_in("ns")) {
    if (object.name() == "a") {
      store.remove({"ns", "b"}, 4);
      store.put(pod("c", "5", "n2"));
    }
    taken.push_back(std::move(object));
  }
  REQUIRE(taken.size() == 2);
  CHECK(taken[0].name() == "a");
  CHECK(string_at(taken[1].spec(), {"nodeName"}) == "n2");
}
