// The facts that must be certain before another slice is granted more: how much pods hold, and that no replica admits
// by an earlier Quota any more.
#include <array>

#include "core/common/peer_names.hpp"
#include "ledger_fixture.hpp"

namespace liqo::quota {
namespace {

const kube::ObjectKey record_key{"liqo", core::ledger_name(quota_key)};

/// Delays the first write of a record for a while, as a slow network does, but not the concurrent read of the Quota.
struct SlowWrites : LedgerFixture {
  void hold_next_record() {
    transport.holds = [this](const kube::HttpRequest& request) -> boost::asio::awaitable<void> {
      if (request.method == "GET" || request.resource != "configmaps" || held++ > 0) co_return;
      co_await simulator.clock().sleep(200ms);
    };
  }
  /// Asks for a pod, and runs `meanwhile` while the write of the record that admits it is under way.
  core::QuotaVerdict judge_while(json::object pod, const std::function<void()>& meanwhile) {
    hold_next_record();
    ask(std::move(pod));
    static_cast<void>(simulator.run_for(100ms));
    REQUIRE(held > 0);
    REQUIRE(answers() == 0);
    meanwhile();
    REQUIRE(reaches([&] { return answers() == 1; }));
    return last_verdict();
  }
  void lower() {
    static_cast<void>(server.update(
        {api::kinds::quotas, quota_key},
        [](json::object& quota) { quota["spec"].as_object()["resources"] = json::object{{"cpu", "2"}}; }, "operator"));
  }
  /// As another replica does in settle().
  void name(const core::QuotaVersion& quota) {
    static_cast<void>(server.update(
        {kube::resources::config_maps, record_key},
        [&](json::object& next) {
          auto record = *core::LedgerRecord::read(kube::Object(next));
          record.quota = quota;
          next["data"].as_object()[core::ledger_key] = record.text();
        },
        "liqod-1"));
  }
  core::QuotaVersion stored_quota() {
    return core::version_of_quota(kube::Object(*server.get(api::kinds::quotas, quota_key)));
  }
  kube::Result<void> settle() {
    std::optional<kube::Result<void>> result;
    spawn(settle_into(ledger, result));
    REQUIRE(reaches([&] { return result.has_value(); }));
    return *result;
  }
  static boost::asio::awaitable<void> settle_into(QuotaLedger& ledger, std::optional<kube::Result<void>>& result,
                                                  std::string tenant_namespace = "liqo-tenant-rome") {
    result = co_await ledger.settle(std::move(tenant_namespace));
  }
  /// Delays the lists of a kind.
  void hold_lists(std::string_view plural) {
    transport.holds = [this,
                       plural = std::string(plural)](const kube::HttpRequest& request) -> boost::asio::awaitable<void> {
      if (request.verb != "list" || request.resource != plural) co_return;
      ++held;
      co_await simulator.clock().sleep(2s);
    };
  }
  std::string held_cpu() {
    const auto by_user = ledger.held_by("rome", "liqo-tenant-rome");
    const auto pool = by_user.find("pool");
    return pool == by_user.end() ? "" : core::amount(pool->second, "cpu").text();
  }
  std::optional<core::QuotaVersion> named() {
    const auto config_map = server.get(kube::resources::config_maps, record_key);
    return config_map ? core::LedgerRecord::read(kube::Object(*config_map))->quota : std::nullopt;
  }

  /// Counts from now on how often a kind is listed.
  void count_lists(std::string_view plural) {
    transport.seen = [this, plural = std::string(plural)](const kube::HttpRequest& request) {
      if (request.verb == "list" && request.resource == plural) ++lists;
    };
  }
  void add_quota(const std::string& name) {
    apply(api::kinds::quotas,
          {{"metadata", json::object{{"name", name}, {"namespace", "liqo-tenant-rome"}}},
           {"spec",
            json::object{{"user", name}, {"limitsEnforcement", "None"}, {"resources", json::object{{"cpu", "8"}}}}}});
  }

  int held = 0, lists = 0;
};

}  // namespace

TEST_CASE("who admits by a Quota that was lowered or withdrawn is refused once the records name the present one") {
  SUBCASE("lowered") {
    SlowWrites milan;
    milan.start();
    REQUIRE(milan.admits(milan.shadow("web-0", "1")));
    const auto verdict = milan.judge_while(milan.shadow("web-1", "5"), [&] {
      milan.lower();
      milan.name(milan.stored_quota());
    });
    CHECK(verdict.ruling == core::QuotaVerdict::Ruling::refused);
    CHECK(verdict.text.find("asked 5, used 1 of 2") != std::string::npos);
    milan.stop();
  }
  SUBCASE("withdrawn") {
    SlowWrites milan;
    milan.start();
    REQUIRE(milan.admits(milan.shadow("web-0", "1")));
    const auto verdict = milan.judge_while(milan.shadow("web-1", "5"), [&] {
      static_cast<void>(milan.server.remove(api::kinds::quotas, quota_key, {}, "operator"));
      milan.name({});
    });
    CHECK(verdict.ruling == core::QuotaVerdict::Ruling::refused);
    CHECK(verdict.text.find("has been withdrawn") != std::string::npos);
    milan.stop();
  }
  SUBCASE("lowered before there was a record that could name it") {
    SlowWrites milan;
    milan.start();
    const auto verdict = milan.judge_while(milan.shadow("web-1", "5"), [&] { milan.lower(); });
    CHECK(verdict.ruling == core::QuotaVerdict::Ruling::refused);
    milan.stop();
  }
  SUBCASE("not changed") {
    SlowWrites milan;
    milan.start();
    REQUIRE(milan.admits(milan.shadow("web-0", "1")));
    const auto verdict = milan.judge_while(milan.shadow("web-1", "5"), [&] { milan.name(milan.stored_quota()); });
    CHECK(verdict.ruling == core::QuotaVerdict::Ruling::admitted);
    milan.stop();
  }
}

TEST_CASE("what a user holds is known with all that is admitted, also once its Quota is gone") {
  SlowWrites milan;
  milan.start();
  CHECK(milan.settle());
  CHECK_FALSE(milan.named());
  REQUIRE(milan.admits(milan.shadow("web-0", "3")));
  REQUIRE(milan.named() == milan.stored_quota());
  CHECK(milan.settle());
  CHECK(milan.held_cpu() == "3");
  milan.lower();
  CHECK(milan.settle());
  CHECK(milan.named() == milan.stored_quota());
  CHECK(milan.held_cpu() == "3");
  // Nothing has changed, so nothing is written.
  const auto version = milan.server.get(kube::resources::config_maps, record_key);
  CHECK(milan.settle());
  CHECK(milan.server.get(kube::resources::config_maps, record_key) == version);
  static_cast<void>(milan.server.remove(api::kinds::quotas, quota_key, {}, "operator"));
  CHECK(milan.settle());
  CHECK(milan.named() == core::QuotaVersion());
  CHECK(milan.held_cpu() == "3");
  // One that comes by its name decides as any.
  milan.grant();
  static_cast<void>(milan.simulator.run_for(1s));
  CHECK(milan.admits(milan.shadow("web-1", "5")));
  CHECK_FALSE(milan.admits(milan.shadow("web-2", "1")));
  CHECK(milan.named() == milan.stored_quota());
  milan.stop();
}

TEST_CASE("pods of a user whose Quota and record are gone are counted before it is said what others hold") {
  SlowWrites milan;
  milan.start();
  const std::string user = core::slice_user("batch", "rome");
  json::object shadow = milan.shadow("web-0", "3");
  shadow["metadata"].as_object()["labels"].as_object()[api::labels::creator_user] = user;
  // The watch of ShadowPods is late.
  milan.link.set_faults({.stalled = 1, .stalled_by = 2s});
  milan.apply(api::kinds::shadow_pods, std::move(shadow));
  REQUIRE(milan.ledger.held_by("rome", "liqo-tenant-rome").empty());
  CHECK(milan.settle());
  CHECK(core::amount(milan.ledger.held_by("rome", "liqo-tenant-rome")[user], "cpu").text() == "3");
  milan.stop();
}

TEST_CASE("all ShadowPods are read once, however many slices there are and however often one asks for more") {
  SlowWrites milan;
  for (int i = 0; i < 60; ++i) milan.add_quota("batch-" + std::to_string(i));
  milan.start();
  milan.count_lists("shadowpods");
  CHECK(milan.settle());
  CHECK(milan.lists == 1);
  for (int i = 0; i < 3; ++i) CHECK(milan.settle());
  CHECK(milan.lists == 1);
  // A removed slice whose record this leader removes costs nothing either.
  REQUIRE(milan.admits(milan.shadow("web-0", "3"), "uid-of-web-0"));
  json::object shadow = milan.shadow("web-0", "3");
  shadow["metadata"].as_object()["uid"] = "uid-of-web-0";
  auto& store = milan.server.store();
  store.put(store.table(api::kinds::shadow_pods), std::move(shadow), "apiserver");
  // The reservation is dropped once its time is over, and then the record is empty.
  static_cast<void>(milan.simulator.run_for(2min));
  static_cast<void>(milan.server.remove(api::kinds::quotas, quota_key, {}, "operator"));
  REQUIRE(milan.reaches([&] { return !milan.server.get(kube::resources::config_maps, record_key); }));
  static_cast<void>(milan.simulator.run_for(1s));
  milan.lists = 0;
  CHECK(milan.settle());
  CHECK(milan.lists == 0);
  milan.stop();
}

TEST_CASE("pods that are refused for a Quota without a record have nothing listed, and the first admission has") {
  SlowWrites milan;
  milan.start();
  milan.count_lists("shadowpods");
  for (int i = 0; i < 10; ++i) CHECK_FALSE(milan.admits(milan.shadow("web-" + std::to_string(i), "9")));
  CHECK(milan.records() == 0);
  // Once when the desk is opened.
  CHECK(milan.lists <= 2);
  milan.lists = 0;
  CHECK(milan.admits(milan.shadow("db-0", "3")));
  CHECK(milan.lists == 1);
  CHECK(milan.admits(milan.shadow("db-1", "3")));
  CHECK(milan.lists == 1);
  milan.stop();
}

TEST_CASE("pods are counted whose Quota and record another replica has removed since all were read") {
  SlowWrites milan;
  const std::string user = core::slice_user("batch", "rome");
  const kube::ObjectKey quota{"liqo-tenant-rome", user};
  milan.add_quota(user);
  milan.start();
  milan.apply(kube::resources::config_maps, core::forge_ledger("liqo", quota, {}).tree());
  static_cast<void>(milan.simulator.run_for(1s));
  REQUIRE(milan.settle());
  milan.link.set_faults({.stalled = 1, .stalled_by = 2s});
  json::object shadow = milan.shadow("web-0", "3");
  shadow["metadata"].as_object()["labels"].as_object()[api::labels::creator_user] = user;
  milan.apply(api::kinds::shadow_pods, std::move(shadow));
  static_cast<void>(milan.server.remove(api::kinds::quotas, quota, {}, "liqod-1"));
  static_cast<void>(
      milan.server.remove(kube::resources::config_maps, {"liqo", core::ledger_name(quota)}, {}, "liqod-1"));
  REQUIRE(milan.ledger.held_by("rome", "liqo-tenant-rome").count(user) == 1);
  CHECK(core::amount(milan.ledger.held_by("rome", "liqo-tenant-rome")[user], "cpu").text() == "0");
  CHECK(milan.settle());
  CHECK(core::amount(milan.ledger.held_by("rome", "liqo-tenant-rome")[user], "cpu").text() == "3");
  milan.stop();
}

TEST_CASE("slices of a consumer that ask for more together share a round, and the next one comes a second later") {
  SlowWrites milan;
  milan.start();
  milan.count_lists("quotas");
  std::array<std::optional<kube::Result<void>>, 3> results;
  CHECK(milan.ledger.settles_in("liqo-tenant-rome") == 0s);
  for (auto& result : results) milan.spawn(SlowWrites::settle_into(milan.ledger, result));
  REQUIRE(milan.reaches([&] { return std::ranges::all_of(results, [](const auto& one) { return one.has_value(); }); }));
  for (const auto& result : results) CHECK(result->has_value());
  CHECK(milan.lists == 1);
  // A caller that comes after it has begun may know of more than it has seen.
  const kube::Duration left = milan.ledger.settles_in("liqo-tenant-rome");
  CHECK(left > 0s);
  CHECK(left <= 1s);
  CHECK(milan.ledger.settles_in("liqo-tenant-turin") == 0s);
  const kube::TimePoint asked = milan.simulator.clock().now();
  CHECK(milan.settle());
  CHECK(milan.lists == 2);
  CHECK(milan.simulator.clock().now() - asked >= left);
  milan.stop();
}

TEST_CASE("who waits for ShadowPods that another caller reads learns that this caller was stopped") {
  SlowWrites milan;
  milan.start();
  milan.hold_lists("shadowpods");
  std::optional<kube::Result<void>> result, none;
  kube::async::TaskGroup reader(milan.simulator.executor());
  reader.spawn(SlowWrites::settle_into(milan.ledger, none));
  static_cast<void>(milan.simulator.run_for(500ms));
  REQUIRE(milan.held == 1);
  milan.spawn(SlowWrites::settle_into(milan.ledger, result, "liqo-tenant-turin"));
  static_cast<void>(milan.simulator.run_for(500ms));
  REQUIRE(milan.held == 1);
  REQUIRE_FALSE(result);
  milan.simulator.run(reader.stop());
  REQUIRE(milan.reaches([&] { return result.has_value(); }));
  REQUIRE_FALSE(result->has_value());
  CHECK(result->error().code() == kube::Errc::stopped);
  milan.stop();
}

TEST_CASE("who settles while the ledger ends opens no desk") {
  SlowWrites milan;
  milan.start();
  REQUIRE(milan.admits(milan.shadow("web-0", "3")));
  milan.hold_lists("quotas");
  std::optional<kube::Result<void>> result;
  milan.spawn(SlowWrites::settle_into(milan.ledger, result));
  static_cast<void>(milan.simulator.run_for(500ms));
  REQUIRE(milan.held == 1);
  milan.stop_ledger();
  REQUIRE_FALSE(result);
  REQUIRE(milan.reaches([&] { return result.has_value(); }));
  REQUIRE_FALSE(result->has_value());
  CHECK(result->error().code() == kube::Errc::stopped);
  milan.stop();
}

TEST_CASE("where a record cannot be written nothing is known for certain") {
  SlowWrites milan;
  milan.start();
  REQUIRE(milan.admits(milan.shadow("web-0", "3")));
  milan.lower();
  milan.transport.fails = [](const kube::HttpRequest& request) {
    return request.method != "GET" && request.resource == "configmaps";
  };
  CHECK_FALSE(milan.settle());
  milan.transport.fails = {};
  CHECK(milan.settle());
  milan.stop();
}

}  // namespace liqo::quota
