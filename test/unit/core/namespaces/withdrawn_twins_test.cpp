// Which twins a NamespaceMap withdraws, and which of them have to stay for their data.
#include "core/namespaces/withdrawn_twins.hpp"

#include "../objects.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kept_twins.hpp"

namespace liqo::core {
namespace {

namespace annotations = api::annotations;

const ReplicationPeer peer{
    .local = "rome", .remote = "milan", .local_namespace = "liqo-tenant-milan", .remote_namespace = "liqo-tenant-rome"};

kube::Object map_of(std::string_view desired, std::string_view current = "{}") {
  kube::Object map = testing::parse(R"({"metadata": {"name": "milan", "uid": "u1", "generation": 4,
      "labels": {"liqo.io/replication": "true", "liqo.io/remoteID": "milan"}}})");
  map.mutable_spec()["desiredMapping"] = testing::parse_value(desired);
  map.mutable_status()["currentMapping"] = testing::parse_value(current);
  return map;
}

std::string words_of(const std::vector<WithdrawnTwin>& twins) {
  std::string words;
  for (const WithdrawnTwin& twin : twins)
    words += twin.local + "=" + twin.remote + (twin.is_known ? "" : "?") + (twin.is_given_up ? "!" : "") + " ";
  return words;
}

}  // namespace

TEST_CASE("what following home would withdraw, and whether home has meant it") {
  const kube::Object replica = map_of(R"({"a": "a-rome", "b": "b-rome"})");
  const WantedTwins none, asked{{"b", "b-rome"}};
  kube::Object deleting = map_of(R"({"a": "a-rome"})");
  deleting.mutable_metadata()["deletionTimestamp"] = "2026-11-21T09:59:00Z";
  kube::Object given_up = map_of(R"({"a": "a-rome"})");
  given_up.set_annotation(annotations::gives_up, "x, b");
  const kube::Object same = map_of(R"({"a": "a-rome", "b": "b-rome"})"), one = map_of(R"({"a": "a-rome"})"),
                     renamed = map_of(R"({"a": "a-rome", "b": "b-2"})");
  const auto words = [&](const kube::Object* local, const WantedTwins& before) {
    return words_of(withdrawn_twins(local, replica, before, peer));
  };
  CHECK(words(&same, none).empty());
  CHECK(words(&one, none) == "b=b-rome? ");
  CHECK(words(&one, asked) == "b=b-rome ");
  CHECK(words(&renamed, none) == "b=b-rome? ");
  CHECK(words(&given_up, none) == "b=b-rome?! ");
  CHECK(words(&deleting, none) == "a=a-rome b=b-rome? ");
  CHECK(words(nullptr, none) == "a=a-rome? b=b-rome? ");
  // What goes already holds nothing any more.
  const kube::Object going =
      map_of(R"({"b": "b-rome"})", R"({"b": {"remoteNamespace": "b-rome", "phase": "Terminating"}})");
  CHECK(withdrawn_twins(&one, going, none, peer).empty());
}

TEST_CASE("names that no namespace can have are nobody's twins") {
  const std::string long_name(64, 'a');
  const kube::Object local = map_of("{}");
  const kube::Object replica = map_of(R"({"a": "a-rome", "a,b": "x", "B": "x", "": "x", "c": "c/rome", "d": "",
      ")" + long_name + R"(": "x", "e": ")" +
                                      long_name + R"("})");
  CHECK(words_of(withdrawn_twins(&local, replica, {}, peer)) == "a=a-rome? ");
}

TEST_CASE("a map that comes from a backup has asked for no more than it says") {
  AskedTwins asked;
  kube::Object map = map_of(R"({"a": "a-rome", "b": "b-rome"})");
  asked.see(&map);
  map.mutable_spec()["desiredMapping"] = kube::json::object{{"a", "a-rome"}};
  SUBCASE("its history goes on") {
    map.mutable_metadata()["generation"] = 5;
    asked.see(&map);
    CHECK(asked.all() == WantedTwins{{"a", "a-rome"}, {"b", "b-rome"}});
    // What is nowhere any more is forgotten, what is not at the provider yet is not.
    asked.prune(&map, map_of("{}"));
    CHECK(asked.all() == WantedTwins{{"a", "a-rome"}});
  }
  SUBCASE("its generation is lower") {
    map.mutable_metadata()["generation"] = 3;
    asked.see(&map);
    CHECK(asked.all() == WantedTwins{{"a", "a-rome"}});
  }
  SUBCASE("it is another object") {
    map.mutable_metadata()["uid"] = "u2";
    asked.see(&map);
    CHECK(asked.all() == WantedTwins{{"a", "a-rome"}});
  }
  SUBCASE("it is gone") {
    asked.see(nullptr);
    CHECK(asked.all().empty());
  }
}

TEST_CASE("a twin stays for claims that nobody knows, and an unknown one where nobody may look") {
  const kube::Result<StrayClaims> nothing = StrayClaims(), some = StrayClaims{"data-0", "data-1", "x", "y"},
                                  forbidden = kube::fail(kube::Errc::missing, "no slice has credentials there");
  const WithdrawnTwin known{.local = "shop", .remote = "shop-rome", .is_known = true};
  const WithdrawnTwin unknown{.local = "shop", .remote = "shop-rome"};
  const WithdrawnTwin given_up{.local = "shop", .remote = "shop-rome", .is_given_up = true};
  for (const WithdrawnTwin& twin : {known, unknown}) {
    CHECK(why_kept(twin, "milan", nothing).empty());
    const std::string why = why_kept(twin, "milan", some);
    CHECK(why.find("shop-rome in cluster milan") != std::string::npos);
    CHECK(why.find("data-0, data-1, x and 1 more") != std::string::npos);
    CHECK(why.find("liqoctl unoffload namespace shop --delete-volumes") != std::string::npos);
  }
  CHECK(why_kept(known, "milan", forbidden).empty());
  CHECK(why_kept(unknown, "milan", forbidden).find("no slice has credentials there") != std::string::npos);
  CHECK(why_kept(given_up, "milan", some).empty());
  CHECK(why_kept(given_up, "milan", forbidden).empty());
}

TEST_CASE("the map at home names what is kept, and what is given up only as long as that is due") {
  kube::Object map = map_of("{}");
  const std::vector<KeptTwin> kept{{"a", "a-rome", "why"}, {"b", "b-rome", "why"}};
  const std::vector<WithdrawnTwin> withdrawn{{"a", "a-rome"}, {"b", "b-rome"}};
  CHECK_FALSE(plan_kept_marks(map, {}, {}));
  const auto marks = plan_kept_marks(map, kept, withdrawn);
  REQUIRE(marks);
  CHECK(kube::string_at(*marks, {"metadata", "annotations", annotations::holds_data}) == "a,b");
  map.set_annotation(annotations::holds_data, "a,b");
  map.set_annotation(annotations::gives_up, "a");
  CHECK_FALSE(plan_kept_marks(map, kept, withdrawn));
  // What nobody has looked at stays as it is.
  const std::vector<KeptTwin> unseen{{"a", "a-rome", "why"}, {"b", "b-rome", ""}, {"c", "c-rome", ""}};
  CHECK_FALSE(plan_kept_marks(map, unseen, withdrawn));
  CHECK(held_names(unseen, nullptr) == "a");
  // The twin is gone, or wanted again.
  const auto done = plan_kept_marks(map, {}, {});
  REQUIRE(done);
  const auto& changes = kube::object_at(*done, {"metadata", "annotations"});
  CHECK(changes.at(annotations::holds_data).is_null());
  CHECK(changes.at(annotations::gives_up).is_null());
}

TEST_CASE("an annotation has room for the names of the twins that are kept") {
  std::vector<KeptTwin> kept;
  for (int i = 10'000; i < 20'000; ++i)
    kept.push_back({.local = std::string(58, 'n') + std::to_string(i), .remote = "x", .why = "why"});
  const std::string names = held_names(kept, nullptr);
  CHECK(names.size() > 120 << 10);
  CHECK(names.size() <= 128 << 10);
  CHECK(names.starts_with(kept.front().local + ","));
  CHECK(names.back() != ',');
}

}  // namespace liqo::core
