// Reads of a twin, and the identity of its objects.
#include "controllers/reflection/twin_objects.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reflector_fixture.hpp"

namespace liqo::controllers {

TEST_CASE("a Secret of the provider that has the name of one at home is no copy of it, and one of the Go version is") {
  World w("Secret");
  const kube::Resource& secrets = kube::resources::secrets;
  w.stop();
  const auto create = [&](kube::testing::FakeApiServer& server, std::string_view ns, const char* name,
                          json::object labels = {}) {
    REQUIRE(server.create(secrets,
                          {{"metadata", json::object{{"name", name}, {"namespace", ns}, {"labels", std::move(labels)}}},
                           {"type", "Opaque"}},
                          actor));
  };
  for (const char* name : {"theirs", "of-go"}) create(w.rome, "shop", name);
  create(w.milan, "shop-rome", "theirs");
  create(w.milan, "shop-rome", "of-go",
         {{"offloading.liqo.io/origin", "rome"}, {"offloading.liqo.io/destination", "milan"}});
  w.start();
  w.reflector.set_references("shop", {});
  w.pass(1min);
  for (const auto& [name, original] : {std::pair{"theirs", ""}, {"of-go", "of-go"}}) {
    CAPTURE(name);
    const FoundCopy found = w.reflector.find_copy(
        "shop", name, kube::string_at(*w.milan.get(secrets, {"shop-rome", name}), {"metadata", "uid"}));
    CHECK(found.is_known);
    CHECK(found.name == original);
  }
}

TEST_CASE("of a twin that somebody has filled no more than a thousand unknown names are taken without their budget") {
  World w;
  w.create("words", "here");
  REQUIRE(w.reaches([&] { return w.milan.get(kind, {"shop-rome", "words"}) != nullptr; }));
  w.pass(1min);
  for (int i = 0; i < 1700; ++i)
    REQUIRE(w.milan.create(kind, World::config_map("shop-rome", "theirs-" + std::to_string(i), "x"), "operator"));
  // How many pages each list of the twin has had: the first one compares names, and the second reads all again.
  std::vector<int> pages;
  w.to_milan.on_send([&](const kube::HttpRequest& request) {
    if (request.method != "GET" || !request.target.starts_with("/api/v1/namespaces/shop-rome/configmaps?")) return;
    if (!request.target.contains("continue=")) pages.push_back(0);
    ++pages.back();
  });
  REQUIRE(w.reaches([&] { return pages.size() == 2 && pages[1] == 4; }, 5min));
  CHECK(pages[0] == 3);
  CHECK(w.at_milan("words") == "here");
}

TEST_CASE("what was read ahead of a twin is parsed within the account of its provider") {
  World w;
  w.create("words", "x");
  REQUIRE(w.reaches([&] { return w.at_milan("words") == "x"; }));
  w.stop();
  w.set("words", "y");
  REQUIRE(w.milan.update(
      {kind, {"shop-rome", "words"}}, [](json::object& tree) { tree["dense"] = json::array(100'000, 0); }, "operator"));
  bool was_read_alone = false;
  std::size_t held = 0;
  w.milan_transport.rewrite = [&](const kube::HttpRequest& request) {
    was_read_alone = was_read_alone || (request.method == "GET" && request.target.contains("/configmaps/words"));
    if (request.method == "PATCH") held = w.account->held();
  };
  w.start();
  REQUIRE(w.reaches([&] { return w.at_milan("words") == "y"; }));
  CHECK(!was_read_alone);
  CHECK(held > 1 << 20);
  w.pass(1s);
  CHECK(w.account->held() == 0);
}

TEST_CASE("large objects are read in small pages") {
  World w;
  for (int i = 0; i < 40; ++i) w.create("large" + std::to_string(i), std::string(1'000'000, 'x'));
  w.create("small", "x");
  CHECK(w.reaches([&] { return w.milan.list(kind).size() == 41; }, 1min));
  w.stop();
  REQUIRE(w.rome.remove(kind, {"shop", "large7"}, {}, actor));
  w.start();
  CHECK(w.reaches([&] { return w.milan.list(kind).size() == 40; }, 1min));
}

}  // namespace liqo::controllers
