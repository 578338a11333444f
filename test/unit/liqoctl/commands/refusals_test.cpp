// liqoctl get refusals.
#include <doctest/doctest.h>

#include "../peered_clusters.hpp"

namespace liqoctl::test {
namespace {

namespace json = kube::json;
using namespace std::chrono_literals;

json::object entry(const std::string& name, kube::WallTime at, int count) {
  std::string reason = "hostPath is not allowed by the policy of cluster milan: ";
  for (int i = 0; i < 40; ++i) reason += "word ";
  return {{"kind", "ShadowPod"},
          {"namespace", "shop-rome"},
          {"name", name},
          {"reason", reason + "end\x1b[2J"},
          {"count", count},
          {"firstTime", kube::format_time(at)},
          {"lastTime", kube::format_time(at)}};
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST_CASE("what was refused is listed for people and programs") {
  CommandWorld world;
  TestCluster milan(world, "milan");
  add_consumer_rome(milan);
  const Done nothing = world.run("get refusals", milan);
  CHECK(nothing.code == 0);
  CHECK(nothing.out.empty());
  CHECK(nothing.err == "INFO: nothing was refused\n");

  const kube::WallTime now = world.simulator().clock().wall();
  const json::array entries{entry("old", now - 3h, 1), entry("web", now - 5s, 7)};
  const std::string map =
      json::serialize(json::object{{"data", json::object{{"refusals.json", json::serialize(entries)}}}});
  milan.add(resources::config_maps, {tenant_of_rome.ns, "liqo-refusals"}, map);
  // A ConfigMap of that name in another namespace is ignored.
  milan.add(resources::config_maps, {"shop-rome", "liqo-refusals"}, map);
  const Done table = world.run("get refusals", milan);
  const auto lines = words_of(table.out);
  REQUIRE(lines.size() > 1);
  CHECK(lines[0] == std::vector<std::string>{"LAST", "COUNT", "CLUSTER", "KIND", "NAME", "REASON"});
  REQUIRE(lines[1].size() > 5);
  CHECK(std::vector(lines[1].begin() + 1, lines[1].begin() + 5) ==
        std::vector<std::string>{"7", "rome", "ShadowPod", "shop-rome/web"});
  CHECK(count(table.out, "word") == 80);
  CHECK(count(table.out, "end") == 2);
  CHECK_FALSE(table.out.contains('\x1b'));

  const Done recent = world.run("get refusals --remote-cluster-id rome --since 1h -o json", milan);
  const json::value document = parsed(recent.out);
  REQUIRE(document.is_array());
  REQUIRE(document.get_array().size() == 1);
  const json::value& one = document.get_array().front();
  CHECK(kube::string_at(one, {"name"}) == "web");
  CHECK(kube::int_at(one, {"count"}) == 7);
  CHECK(kube::string_at(one, {"cluster"}) == "rome");

  const Done stranger = world.run("get refusals --remote-cluster-id turin", milan);
  CHECK(stranger.code == 1);
  CHECK_MESSAGE(stranger.err.contains("turin is not a peer"), stranger.err);
  const Done wrong = world.run("get refusals --since yesterday", milan);
  CHECK(wrong.code == 2);
  CHECK_MESSAGE(wrong.err.contains("yesterday"), wrong.err);
}

}  // namespace
}  // namespace liqoctl::test
