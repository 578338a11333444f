// Refusals are counted, merged and bounded, and come back from their ConfigMap as they were.
#include "core/admission/refusal_ring.hpp"

#include <algorithm>
#include <limits>

#include "../objects.hpp"

namespace liqo::core::admission {
namespace {

using namespace core::testing;
using namespace std::chrono_literals;

RefusedObject refused(std::string_view name, std::string_view reason, std::chrono::seconds later = 0s) {
  return {.kind = "ShadowPod",
          .ns = "shop-rome",
          .name = std::string(name),
          .reason = std::string(reason),
          .first = at(later),
          .last = at(later)};
}

kube::Object stored(const RefusalRing& ring) {
  kube::Object map = parse(R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "liqo-refusals"}})");
  ring.write(map);
  return map;
}

std::size_t text_size(const kube::Object& map) { return kube::string_at(map.tree(), {"data", refusals_entry}).size(); }

}  // namespace

TEST_CASE("the same object and reason is one entry, with a count and its first and last time") {
  RefusalRing ring;
  CHECK(ring.empty());
  ring.add(refused("web", "no room", 5s));
  ring.add(refused("web", "no room", 9s));
  ring.add(refused("web", "no room", 2s));
  ring.add(refused("web", "hostPath is not allowed", 3s));
  ring.add(refused("db", "no room", 20s));
  const auto all = ring.newest_first();
  REQUIRE(all.size() == 3);
  CHECK(all[0].name == "db");
  CHECK(all[1].reason == "no room");
  CHECK(all[1].count == 3);
  CHECK(all[1].first == at(2s));
  CHECK(all[1].last == at(9s));
  CHECK(all[2].reason == "hostPath is not allowed");
}

TEST_CASE("tries that differ in figures alone are one entry, which has the newest figures") {
  RefusalRing ring;
  ring.add(refused("web", "quota pool has not enough cpu: asked 2, free 1", 5s));
  ring.add(refused("web", "quota pool has not enough cpu: asked 2, free 0", 9s));
  ring.add(refused("web", "quota pool has not enough cpu: asked 2, free 1500m", 2s));
  ring.add(refused("web", "quota pool has not enough memory: asked 2, free 1", 1s));
  const auto all = RefusalRing::read(stored(ring)).newest_first();
  REQUIRE(all.size() == 2);
  CHECK(all[0].reason == "quota pool has not enough cpu: asked 2, free 0");
  CHECK(all[0].count == 3);
  CHECK(all[0].first == at(2s));
  CHECK(all[1].count == 1);

  // A sentence that becomes longer counts with its length.
  RefusalRing growing;
  for (const std::size_t length : {10U, 900U})
    for (int i = 0; i < 200; ++i)
      growing.add(refused("pod-" + std::to_string(i), "no room: " + std::string(length, 'x'), 1s));
  CHECK(text_size(stored(growing)) <= RefusalRing::max_bytes);
  CHECK(text_size(stored(growing)) > RefusalRing::max_bytes / 2);
}

TEST_CASE("what two replicas have counted adds up") {
  RefusalRing one, other;
  for (int i = 0; i < 3; ++i) one.add(refused("web", "no room", 1s));
  for (int i = 0; i < 4; ++i) other.add(refused("web", "no room", 7s));
  RefusalRing read = RefusalRing::read(stored(one));
  read.add(other, at(8s));
  const auto all = read.newest_first();
  REQUIRE(all.size() == 1);
  CHECK(all[0].count == 7);
  CHECK(all[0].first == at(1s));
  CHECK(all[0].last == at(7s));
}

TEST_CASE("what a clock counted that was ahead keeps nothing out that comes later") {
  constexpr auto day = 24h;
  RefusalRing full;
  for (int i = 0; i < 256; ++i) full.add(refused("old-" + std::to_string(i), "no room: asked 1", day));
  RefusalRing added;
  for (int i = 0; i < 10; ++i) added.add(refused("new-" + std::to_string(i), "no room", std::chrono::seconds(i)));
  added.add(refused("old-7", "no room: asked 2", 5s));
  RefusalRing ring = RefusalRing::read(stored(full));
  ring.add(added, at(10s));
  const auto all = ring.newest_first();
  REQUIRE(all.size() == RefusalRing::max_entries);
  CHECK(all[0].name == "new-9");
  CHECK(std::ranges::count_if(all, [](const RefusedObject& one) { return one.name.starts_with("new-"); }) == 10);
  const auto again = std::ranges::find(all, std::string_view("old-7"), &RefusedObject::name);
  REQUIRE(again != all.end());
  CHECK(again->reason == "no room: asked 2");
  CHECK(again->count == 2);
  for (const RefusedObject& one : all) {
    CHECK(one.last <= at(10s));
    CHECK(one.first <= one.last);
  }
  // Replicas' clocks differ a little.
  RefusalRing other;
  other.add(refused("web", "no room", 20s));
  other.add(added, at(10s));
  CHECK(other.newest_first()[0].last == at(20s));
}

TEST_CASE("what is added is not dropped for what is there, however much newer that is") {
  RefusalRing ring;
  for (int i = 0; i < 256; ++i) ring.add(refused("pod-" + std::to_string(i), "no room", 30s));
  ring.add(refused("web", "no room", 1s));
  const auto all = ring.newest_first();
  CHECK(all.size() == RefusalRing::max_entries);
  CHECK(all.back().name == "web");
}

TEST_CASE("it comes back from its ConfigMap as it was") {
  RefusalRing ring;
  ring.add(refused("web", R"(the image "a\b" is not allowed)", 3s));
  ring.add(refused("db", "ü", 4s));
  const kube::Object map = stored(ring);
  CHECK(stored(RefusalRing::read(map)).tree() == map.tree());
  const auto all = RefusalRing::read(map).newest_first();
  REQUIRE(all.size() == 2);
  CHECK(all[1].reason == R"(the image "a\b" is not allowed)");
  CHECK(all[1].ns == "shop-rome");
  CHECK(all[1].last == at(3s));
}

TEST_CASE("however much is refused, the ring is bounded, and the oldest goes") {
  RefusalRing many;
  for (int i = 0; i < 10'000; ++i) many.add(refused("pod-" + std::to_string(i), "no room", std::chrono::seconds(i)));
  const auto all = many.newest_first();
  REQUIRE(all.size() == RefusalRing::max_entries);
  CHECK(all.front().name == "pod-9999");
  CHECK(all.back().name == "pod-9744");
  CHECK(text_size(stored(many)) <= RefusalRing::max_bytes);

  // The longest texts, of characters that take two bytes in JSON.
  RefusalRing large;
  for (int i = 0; i < 1000; ++i)
    large.add(refused("pod-" + std::to_string(i), std::to_string(i) + std::string(100'000, '"')));
  CHECK(text_size(stored(large)) <= RefusalRing::max_bytes);
  CHECK(text_size(stored(large)) > RefusalRing::max_bytes / 2);
  for (const RefusedObject& each : large.newest_first()) CHECK(each.reason.size() <= RefusalRing::max_reason);
  CHECK(RefusalRing::read(stored(large)).newest_first().size() == large.newest_first().size());
}

TEST_CASE("what a consumer has written is printable, and a count has an end") {
  RefusalRing ring;
  RefusedObject hostile = refused("a\n\x1b[2Jb", "no\r\nroom");
  hostile.count = std::numeric_limits<std::int64_t>::max();
  ring.add(hostile);
  ring.add(hostile);
  const auto all = ring.newest_first();
  REQUIRE(all.size() == 1);
  CHECK(all[0].name == "a [2Jb");
  CHECK(all[0].reason == "no room");
  CHECK(all[0].count == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("a review of megabytes leaves little that waits for a ring") {
  const std::string large(5U << 20, 'x');
  RefusedObject hostile{.kind = large, .ns = large, .name = "x" + std::string(5U << 20, ' '), .reason = large};
  RefusalRing::cut_texts(hostile);
  for (const std::string& text : {hostile.kind, hostile.ns, hostile.name, hostile.reason}) {
    CHECK_FALSE(text.empty());
    CHECK(text.capacity() <= 2 * RefusalRing::max_reason);
  }
}

TEST_CASE("a ConfigMap that somebody has changed is read as far as it can be") {
  struct {
    const char* what;
    std::string text;
    std::size_t entries;
  } const cases[] = {
      {"nothing", "", 0},
      {"no JSON", "{", 0},
      {"no list", "{}", 0},
      {"others between", R"([7, null, {"kind": "ShadowPod"},
          {"kind": "ShadowPod", "name": "web", "firstTime": "2026-11-21T10:00:00Z", "lastTime": "2026-11-21T10:00:00Z",
           "count": -5}])",
       1},
      {"too long", "[" + std::string(300'000, ' ') + "]", 0},
      {"too deep", "[[[[[[[[]]]]]]]]", 0},
  };
  for (const auto& each : cases) {
    CAPTURE(each.what);
    kube::Object map = parse(R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "liqo-refusals"}})");
    kube::ensure_object(map.tree(), "data")[refusals_entry] = each.text;
    const auto all = RefusalRing::read(map).newest_first();
    CHECK(all.size() == each.entries);
    for (const RefusedObject& one : all) CHECK(one.count == 1);
  }
  kube::Object odd = kube::Object::make(kube::resources::config_maps, {"liqo-tenant-rome", "liqo-refusals"});
  odd.tree()["data"] = 7;
  CHECK(RefusalRing::read(odd).empty());
}

}  // namespace liqo::core::admission
