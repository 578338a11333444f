// The refused requests of consumers, as people and programs read them.
#include "model/tenant/refusals.hpp"

#include <doctest/doctest.h>

namespace {

using namespace liqoctl::model;
using namespace std::chrono_literals;
using liqo::core::admission::RefusalRing;
using liqo::core::admission::RefusedObject;

const kube::WallTime now = *kube::parse_time("2026-11-21T12:00:00Z");

kube::Object parsed(const char* text) {
  auto object = kube::Object::parse(text);
  REQUIRE(object);
  return *object;
}

const std::vector<kube::Object>& tenants() {
  static const std::vector<kube::Object> all{
      parsed(R"({"metadata":{"name":"liqo-tenant-rome","labels":{"liqo.io/remote-cluster-id":"rome",
        "liqo.io/tenant-namespace":"true"}}})"),
      parsed(R"({"metadata":{"name":"tenant-of-turin","labels":{"liqo.io/remote-cluster-id":"turin",
        "liqo.io/tenant-namespace":"true"}}})"),
      parsed(R"({"metadata":{"name":"shop-rome","labels":{"liqo.io/remote-cluster-id":"rome"}}})")};
  return all;
}

kube::Object map_of(std::string_view ns, std::vector<RefusedObject> all, std::string_view name = "liqo-refusals") {
  RefusalRing ring;
  for (RefusedObject& one : all) ring.add(std::move(one));
  kube::Object map =
      kube::Object::make(kube::resources::config_maps, {.ns = std::string(ns), .name = std::string(name)});
  ring.write(map);
  return map;
}

RefusedObject refused(std::string name, std::string reason, std::chrono::seconds before) {
  return {.kind = "ShadowPod",
          .ns = "shop-rome",
          .name = std::move(name),
          .reason = std::move(reason),
          .first = now - before,
          .last = now - before};
}

TEST_CASE("refusals of all consumers come newest first, those of other namespaces not at all") {
  const std::vector<kube::Object> maps{
      map_of("liqo-tenant-rome", {refused("web", "no room", 90s), refused("db", "hostPath", 2h)}),
      map_of("tenant-of-turin", {refused("api", "no room", 100s)}),
      map_of("shop-rome", {refused("forged", "no room", 1s)}), map_of("nobody", {refused("forged", "no room", 1s)}),
      map_of("liqo-tenant-rome", {refused("forged", "no room", 1s)}, "other")};
  const auto all = refusals_since(tenants(), maps, {});
  REQUIRE(all.size() == 3);
  CHECK(all[0].consumer == "rome");
  CHECK(all[0].refused.name == "web");
  CHECK(all[1].consumer == "turin");
  CHECK(all[2].refused.name == "db");
  CHECK(refusals_since(tenants(), maps, now - 1h).size() == 2);
  CHECK(refusals_since(tenants(), {}, {}).empty());
}

TEST_CASE("the answer to a slice, which was written for its consumer, is told in the provider's words") {
  RefusedObject slice = refused("batch",
                                "the provider grants a slice of this cluster no more than 3 of cpu, and this one would "
                                "have 4: ask for less, or its operator for more (maxSliceResources in the policy)",
                                90s);
  slice.kind = "ResourceSlice";
  RefusedObject pod = refused("web", "pod web may not run in this cluster: hostPath", 91s);
  const auto all = refusals_since(tenants(), {map_of("liqo-tenant-rome", {slice, pod})}, {});
  REQUIRE(all.size() == 2);
  CHECK(all[0].refused.reason ==
        "this cluster grants a slice of consumer rome no more than 3 of cpu, and this one would have 4: allow more "
        "with liqoctl set tenant rome --max-slice");
  CHECK(all[1].refused.reason == "pod web may not run in this cluster: hostPath");
}

TEST_CASE("where nothing is recorded, that is what is said") {
  const auto liqod = [](const std::string& port) {
    return parsed(
        (R"({"metadata":{"name":"liqod"},"spec":{"template":{"spec":{"containers":[{"args":["--webhook-port=)" + port +
         R"("]}]}}}})")
            .c_str());
  };
  const kube::Object on = liqod("9443"), off = liqod("0");
  CHECK(no_refusals(&on) == "nothing was refused");
  CHECK(no_refusals(nullptr) == "nothing was refused");
  CHECK(no_refusals(&off).starts_with("nothing is recorded"));
}

TEST_CASE("the table has whole sentences") {
  const std::string sentence =
      "quota liqo-tenant-rome/pool has not enough cpu: asked 2, used 7 of 8, free 1; ask for less or for a larger "
      "slice";
  RefusedObject web = refused("web", sentence, 90s);
  web.count = 12;
  const auto all = refusals_since(tenants(), {map_of("liqo-tenant-rome", {web})}, {});
  CHECK(refusal_table(all, now) ==
        "LAST   COUNT   CLUSTER   KIND        NAME            REASON\n"
        "90s    12      rome      ShadowPod   shop-rome/web   quota liqo-tenant-rome/pool has not enough cpu: asked 2, "
        "used 7 of 8,\n"
        "                                                     free 1; ask for less or for a larger slice\n");
}

TEST_CASE("programs read the same") {
  const auto all = refusals_since(tenants(), {map_of("liqo-tenant-rome", {refused("web", "no room", 90s)})}, {});
  const auto list = refusal_list(all);
  REQUIRE(list.size() == 1);
  CHECK(kube::string_at(list[0], {"cluster"}) == "rome");
  CHECK(kube::string_at(list[0], {"reason"}) == "no room");
  CHECK(kube::string_at(list[0], {"lastTime"}) == "2026-11-21T11:58:30Z");
  CHECK(kube::int_at(list[0], {"count"}) == 1);
}

}  // namespace
