// Reviews that no API server has sent have no lasting effect on the record of a Quota, and none on other callers.
#include "kube/async/timeout.hpp"
#include "ledger_fixture.hpp"

namespace liqo::quota {
namespace {

using Ruling = core::QuotaVerdict::Ruling;

core::Claimant unproven(bool may_be_large = false) {
  return {.address = "10.244.3.7", .proven = false, .may_be_large = may_be_large};
}

/// The record of the Quota as it is stored.
core::LedgerRecord record_of(LedgerFixture& fixture) {
  const auto tree = fixture.server.get(kube::resources::config_maps, {"liqo", core::ledger_name(quota_key)});
  if (!tree) return {};
  return core::LedgerRecord::read(kube::Object(json::object(*tree))).value();
}

/// Stored by another replica.
void write_record(LedgerFixture& fixture, const std::string& text) {
  kube::Object config_map = core::forge_ledger("liqo", quota_key, {});
  config_map.tree()["data"] = json::object{{core::ledger_key, text}};
  fixture.apply(kube::resources::config_maps, config_map.tree());
}

TEST_CASE("a reservation that cannot be understood makes no room, and expires") {
  for (const char* entry : {R"({"pod":"web","demand":{"cpu":"1"}})", R"({"pod":"shop/web","demand":{"cpu":"much"}})"}) {
    CAPTURE(entry);
    LedgerFixture fixture;
    write_record(fixture, R"({"version":1,"floor":"0","reservations":{"bad":)" + std::string(entry) + "}}");
    fixture.start();
    const core::QuotaVerdict verdict = fixture.judge(LedgerFixture::shadow("db", "1"));
    CHECK(verdict.ruling == Ruling::unavailable);
    CHECK(verdict.text.contains("cannot be understood"));
    static_cast<void>(fixture.simulator.run_for(60s));
    CHECK(record_of(fixture).unreadable.contains("bad"));
    static_cast<void>(fixture.simulator.run_for(90s));
    CHECK(record_of(fixture).empty());
    CHECK(fixture.judge(LedgerFixture::shadow("db", "8")).ruling == Ruling::admitted);
    fixture.stop();
  }
}

TEST_CASE("a pod of hundreds of resources, none of which it asks for, is written down as one of none") {
  LedgerFixture fixture;
  fixture.start();
  json::object shadow = LedgerFixture::shadow("web", "0");
  json::array& containers = shadow["spec"].get_object()["pod"].get_object()["containers"].get_array();
  for (int i = 0; i < 3; ++i) {
    json::object requests;
    for (int j = 0; j < 200; ++j) requests["example.com/r" + std::to_string(200 * i + j)] = "0";
    containers.emplace_back(
        json::object{{"name", "c" + std::to_string(i)}, {"resources", json::object{{"requests", requests}}}});
  }
  CHECK(fixture.judge(shadow, unproven()).ruling == Ruling::admitted);
  const core::LedgerRecord record = record_of(fixture);
  REQUIRE(record.reservations.size() == 1);
  CHECK(record.reservations.begin()->second.demand.size() == 1);
  CHECK(record.reservations.begin()->second.demand.contains("pods"));
  CHECK(fixture.judge(LedgerFixture::shadow("db", "8")).ruling == Ruling::admitted);
  fixture.stop();
}

TEST_CASE("long names take nothing of the record, and answer for themselves only") {
  LedgerFixture fixture;
  fixture.start();
  for (int i = 0; i < 40; ++i) fixture.ask(LedgerFixture::shadow("db-" + std::to_string(i), "1m"));
  fixture.ask(LedgerFixture::shadow(std::string(600'000, 'a'), "1m"), unproven());
  fixture.ask(LedgerFixture::shadow(std::string(2'000, 'a'), "1m"), unproven());
  fixture.ask(LedgerFixture::shadow("web", "1m"), unproven());
  REQUIRE(fixture.reaches([&] { return fixture.answers() == 43; }));
  const core::LedgerRecord record = record_of(fixture);
  CHECK(record.reservations.size() == 41);
  for (const auto& [uid, reservation] : record.reservations) CHECK(reservation.pod.name.size() < 10);
  // Nor does the next one wait for a write of so many bytes.
  const kube::TimePoint start = fixture.simulator.clock().now();
  CHECK(fixture.judge(LedgerFixture::shadow("next", "1m")).ruling == Ruling::admitted);
  CHECK(fixture.simulator.clock().now() - start < 200ms);
  // A caller that may be an API server is admitted with it, and no caller with an impossible name of a pod.
  CHECK(fixture.judge(LedgerFixture::shadow(std::string(2'000, 'a'), "1m"), unproven(true)).ruling == Ruling::admitted);
  CHECK(fixture.judge(LedgerFixture::shadow(std::string(8'192, 'a'), "1m"), unproven(true)).ruling == Ruling::refused);
  fixture.stop();
}

TEST_CASE("who does not fit into a full record is told to ask again, and the others are answered") {
  LedgerFixture fixture;
  core::LedgerRecord record;
  for (int i = 0; core::max_ledger_bytes - record.text().size() > 9'000; ++i)
    record.reservations["uid-of-before-" + std::to_string(i)] = {.pod = {"shop", std::string(7'900, 'a')},
                                                                 .demand = {}};
  write_record(fixture, record.text());
  fixture.start();
  std::vector<core::QuotaVerdict> verdicts;
  CHECK(fixture.judge(LedgerFixture::shadow("web", "9")).ruling == Ruling::refused);
  for (int i = 0; i < 3; ++i)
    verdicts.push_back(fixture.judge(LedgerFixture::shadow(std::string(4'000, 'b') + std::to_string(i), "1m")));
  CHECK(verdicts[0].ruling == Ruling::admitted);
  CHECK(verdicts[2].ruling == Ruling::unavailable);
  CHECK(verdicts[2].text.contains("is full"));
  CHECK(fixture.judge(LedgerFixture::shadow("small", "1m")).ruling == Ruling::admitted);
  CHECK(record_of(fixture).text().size() <= core::max_ledger_bytes);
  // There is room again when reservations that were never stored have expired.
  static_cast<void>(fixture.simulator.run_for(3min));
  CHECK(record_of(fixture).text().size() < 1'000);
  CHECK(fixture.judge(LedgerFixture::shadow(std::string(4'000, 'b'), "1m")).ruling == Ruling::admitted);
  fixture.stop();
}

TEST_CASE("a reservation whose pod cannot be looked at expires once the cache tells that it is not stored") {
  LedgerFixture fixture;
  bool is_stored = false;
  fixture.transport.fails = [](const kube::HttpRequest& request) {
    return request.method == "GET" && request.target.contains("/shadowpods/");
  };
  SUBCASE("it was never stored") {}
  SUBCASE("it is stored, and the cache has not seen it yet") { is_stored = true; }
  fixture.start();
  for (int i = 0; i < 40; ++i)
    CHECK(fixture.admits(LedgerFixture::shadow("web-" + std::to_string(i), "200m"), "uid-of-" + std::to_string(i)));
  if (is_stored) {
    fixture.link.set_faults({.stalled = 1, .stalled_by = 60min});
    json::object shadow = LedgerFixture::shadow("web-7", "200m");
    shadow["metadata"].get_object()["uid"] = "uid-of-7";
    auto& store = fixture.server.store();
    store.put(store.table(api::kinds::shadow_pods), std::move(shadow), "apiserver");
    static_cast<void>(fixture.simulator.run_for(5min));
    // The cache is older than the pod, and so proves nothing.
    CHECK(record_of(fixture).reservations.contains("uid-of-7"));
    fixture.link.set_faults({});
    fixture.link.cut_watches();
  }
  static_cast<void>(fixture.simulator.run_for(4min));
  CHECK(record_of(fixture).empty());
  CHECK(fixture.used_cpu() == (is_stored ? "200m" : "0"));
  fixture.stop();
}

TEST_CASE("a dry run tells who is not proven nothing") {
  LedgerFixture fixture;
  fixture.start();
  for (const std::string_view cpu : {"0", "1m", "800m", "8", "9"})
    CHECK(fixture.judge(LedgerFixture::shadow("web", cpu), unproven(true), true).ruling == Ruling::held_back);
  CHECK(fixture.judge(LedgerFixture::shadow("web", "8"), {}, true).ruling == Ruling::admitted);
  CHECK(fixture.judge(LedgerFixture::shadow("web", "9"), {}, true).ruling == Ruling::refused);
  CHECK(fixture.records() == 0);
  fixture.stop();
}

TEST_CASE("beyond the share there is one reservation at a time, whichever replica has let it in") {
  LedgerFixture fixture;
  core::LedgerRecord record;
  record.reservations["of-another-replica"] = {
      .pod = {"shop", "other"}, .demand = {{"cpu", kube::Quantity(1)}}, .unproven = true};
  write_record(fixture, record.text());
  fixture.start();
  CHECK(fixture.judge(LedgerFixture::shadow("web", "5"), unproven(true)).ruling == Ruling::held_back);
  CHECK(fixture.judge(LedgerFixture::shadow("db", "5")).ruling == Ruling::admitted);
  static_cast<void>(fixture.simulator.run_for(90s));
  CHECK(fixture.judge(LedgerFixture::shadow("web", "5"), unproven(true)).ruling == Ruling::admitted);
  fixture.stop();
}

TEST_CASE("who does not wait any more is not written down") {
  LedgerFixture fixture;
  fixture.start();
  // The record is read before the first decision, and that takes longer than the caller waits.
  fixture.link.set_faults({.latency_low = 2s, .latency_high = 2s});
  bool gave_up = false;
  const auto ask = [](LedgerFixture& on, bool& ended) -> boost::asio::awaitable<void> {
    json::object shadow = LedgerFixture::shadow("gone", "5");
    shadow["metadata"].get_object()["uid"] = "uid-of-gone";
    const kube::Object object(std::move(shadow));
    ended =
        !co_await kube::async::with_timeout(on.simulator.clock(), on.ledger.decide_on(object, nullptr, false, {}), 1s);
  };
  fixture.spawn(ask(fixture, gave_up));
  REQUIRE(fixture.reaches([&] { return gave_up; }));
  fixture.link.set_faults({});
  CHECK(fixture.judge(LedgerFixture::shadow("web", "5")).ruling == Ruling::admitted);
  CHECK_FALSE(record_of(fixture).reservations.contains("uid-of-gone"));
  fixture.stop();
}

}  // namespace
}  // namespace liqo::quota
