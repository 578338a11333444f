// Reads of a kind at home that is not watched there.
#include "controllers/reflection/home_objects.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "reflector_fixture.hpp"

namespace liqo::controllers {

TEST_CASE("a list of home that is behind the last one takes no copies away") {
  World w("Secret");
  const kube::Resource& secrets = kube::resources::secrets;
  const auto create = [&](const std::string& name, json::object annotations = {}) {
    REQUIRE(w.rome.create(
        secrets,
        {{"metadata", json::object{{"name", name}, {"namespace", "shop"}, {"annotations", std::move(annotations)}}}},
        actor));
  };
  const auto has = [&](const std::string& name) { return w.milan.get(secrets, {"shop-rome", name}) != nullptr; };
  const std::uint64_t before = w.rome.store().version();
  create("plain");
  create("allowed", {{"liqo.io/allow-reflection", "true"}});
  w.reflector.set_references("shop", {}, true);
  REQUIRE(w.reaches([&] { return has("plain") && has("allowed"); }, 30s));
  w.pass(6min);
  const auto deletes = [&] {
    return std::ranges::count_if(w.milan.writes(), [](const auto& write) { return write.method == "DELETE"; });
  };
  w.rome.manners().cached_at = before;
  w.pass(2min);
  CHECK(deletes() == 0);
  // A process that has just begun knows no newer list: before it removes a copy it reads the object itself.
  w.stop();
  w.reflector.stop_namespace("shop");
  w.reflector.start_namespace("shop", "shop-rome");
  w.reflector.set_references("shop", {}, true);
  w.start();
  w.pass(10min);
  CHECK(deletes() == 0);
  REQUIRE(w.rome.remove(secrets, {"shop", "plain"}, {}, actor));
  CHECK(w.reaches([&] { return !has("plain"); }, 1min));
  CHECK(has("allowed"));
}

TEST_CASE("the copy of a Secret that went before the next list goes, too") {
  World w("Secret");
  const kube::Resource& secrets = kube::resources::secrets;
  const auto has = [&] { return w.milan.get(secrets, {"shop-rome", "brief"}) != nullptr; };
  w.pass(5s);
  REQUIRE(w.rome.create(
      secrets, {{"metadata", json::object{{"name", "brief"}, {"namespace", "shop"}}}, {"type", "Opaque"}}, actor));
  w.reflector.set_references("shop", {"brief"});
  REQUIRE(w.reaches(has, 2s));
  REQUIRE(w.rome.remove(secrets, {"shop", "brief"}, {}, actor));
  CHECK(w.reaches([&] { return !has(); }, 1min));
}

TEST_CASE("where all Secrets of a namespace are reflected they are read by one list") {
  World w("Secret");
  w.stop();
  const kube::Resource& secrets = kube::resources::secrets;
  const auto create = [&](const std::string& name, json::object annotations) {
    REQUIRE(w.rome.create(
        secrets,
        {{"metadata", json::object{{"name", name}, {"namespace", "shop"}, {"annotations", std::move(annotations)}}},
         {"data", json::object{{"key", "eA=="}}}},
        actor));
  };
  for (int i = 0; i < 5; ++i) create("allowed-" + std::to_string(i), {{"liqo.io/allow-reflection", "true"}});
  int gets = 0, lists = 0;
  w.to_rome.on_send([&](const kube::HttpRequest& request) {
    const bool is_list = request.target.starts_with("/api/v1/namespaces/shop/secrets?");
    const bool reads_metadata = std::ranges::any_of(
        request.headers, [](const auto& header) { return header.second.contains("PartialObjectMetadata"); });
    gets += request.target.starts_with("/api/v1/namespaces/shop/secrets/");
    lists += is_list && !reads_metadata;
  });
  const auto copied = [&] { return w.milan.list(secrets).size(); };
  w.start();
  REQUIRE(w.reaches([&] { return copied() == 5; }));
  CHECK(gets == 0);
  CHECK(lists == 1);
  // One that is not reflected is not read with them.
  w.stop();
  create("private", {});
  w.start();
  w.pass(1min);
  CHECK(copied() == 5);
  CHECK(gets == 5);
  CHECK(lists == 1);
}

}  // namespace liqo::controllers
