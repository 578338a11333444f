// The counting of one replica's quota ledger. Its simulation checks that no replica ever admits too much.
#include "core/common/peer_names.hpp"
#include "core/offloading/provider_pod.hpp"
#include "ledger_fixture.hpp"

namespace liqo::quota {
namespace {

TEST_CASE("what stored ShadowPods hold follows the overhead of their RuntimeClass") {
  LedgerFixture fixture;
  fixture.apply(api::kinds::shadow_pods, LedgerFixture::shadow("web", "1", "kata"));
  fixture.apply(api::kinds::shadow_pods, LedgerFixture::shadow("db", "1"));
  fixture.start();
  CHECK(fixture.reaches([&] { return fixture.used_cpu() == "2"; }));
  fixture.apply(runtime_classes,
                {{"metadata", json::object{{"name", "kata"}}},
                 {"handler", "kata"},
                 {"overhead", json::object{{"podFixed", json::object{{"cpu", "250m"}, {"memory", "64Mi"}}}}}});
  CHECK(fixture.reaches([&] { return fixture.used_cpu() == "2250m"; }));
  static_cast<void>(fixture.server.remove(runtime_classes, {"", "kata"}, {}, "operator"));
  CHECK(fixture.reaches([&] { return fixture.used_cpu() == "2"; }));
  fixture.stop();
}

TEST_CASE("a Pod counts in a twin of its consumer alone, whatever labels others give to theirs") {
  LedgerFixture fixture;
  const auto space = [&](std::string_view name, json::object labels) {
    fixture.apply(kube::resources::namespaces,
                  {{"metadata", json::object{{"name", name}, {"labels", std::move(labels)}}}});
  };
  const std::string user = core::slice_user("pool", "rome");
  const auto pod = [&](std::string_view ns, std::string_view cpu) {
    json::object tree = LedgerFixture::shadow("web", cpu);
    json::object& metadata = tree["metadata"].as_object();
    metadata["namespace"] = ns;
    metadata["labels"] =
        json::object{{api::labels::creator_user, user}, {api::labels::managed_by, api::labels::managed_by_shadow_pod}};
    fixture.apply(kube::resources::pods,
                  {{"metadata", std::move(metadata)}, {"spec", tree["spec"].as_object()["pod"].as_object()}});
  };
  fixture.apply(api::kinds::quotas,
                {{"metadata", json::object{{"name", user}, {"namespace", "liqo-tenant-rome"}}},
                 {"spec", json::object{{"user", user}, {"limitsEnforcement", "None"}, {"resources", {{"cpu", "8"}}}}}});
  const auto used = [&] { return core::amount(fixture.ledger.usage({"liqo-tenant-rome", user}).used, "cpu").text(); };
  space("dev", {});
  space("shop-paris", {{api::labels::remote_cluster_id, "paris"}});
  space("shop-rome", {{api::labels::remote_cluster_id, "rome"}});
  pod("dev", "100");
  pod("shop-paris", "10");
  pod("shop-rome", "1");
  fixture.start();
  CHECK(fixture.reaches([&] { return used() == "1"; }));
  // A namespace that becomes a twin.
  fixture.server.update(
      {kube::resources::namespaces, {"", "dev"}},
      [](json::object& tree) {
        tree["metadata"].as_object()["labels"] = json::object{{api::labels::remote_cluster_id, "rome"}};
      },
      "operator");
  CHECK(fixture.reaches([&] { return used() == "101"; }));
  fixture.stop();
}

TEST_CASE("after a restore of the database the ledger admits again by itself, whatever the record asks for") {
  for (const bool record_is_restored : {true, false}) {
    CAPTURE(record_is_restored);
    LedgerFixture fixture;
    fixture.apply(api::kinds::shadow_pods, LedgerFixture::shadow("web", "1"));
    fixture.start();
    if (record_is_restored) REQUIRE(fixture.admits(LedgerFixture::shadow("early", "1")));
    const std::uint64_t snapshot = fixture.server.store().version();
    for (int i = 0; i < 5; ++i)
      fixture.apply(api::kinds::shadow_pods, LedgerFixture::shadow("lost-" + std::to_string(i), "1"));
    REQUIRE(fixture.admits(LedgerFixture::shadow("late", "1"), "uid-late"));
    CHECK_FALSE(fixture.admits(LedgerFixture::shadow("too-much", "8")));
    fixture.link.refuse();
    fixture.server.store().rewind(snapshot);
    static_cast<void>(fixture.simulator.run_for(8s));
    fixture.link.heal();
    const auto healed = fixture.simulator.clock().now();
    // Resources of the lost pod are free again.
    bool admitted = false;
    while (!admitted && fixture.simulator.clock().now() - healed < 1min) {
      admitted = fixture.admits(LedgerFixture::shadow("new", "5"));
      static_cast<void>(fixture.simulator.run_for(1s));
    }
    CHECK(admitted);
    fixture.stop();
  }
}

TEST_CASE("a record whose floor lies in the future of its server is computed anew") {
  LedgerFixture fixture;
  fixture.apply(api::kinds::shadow_pods, LedgerFixture::shadow("web", "1"));
  fixture.start();
  REQUIRE(fixture.admits(LedgerFixture::shadow("first", "1")));
  // As another replica may write it that does not know of the restore.
  core::LedgerRecord record;
  record.floor = fixture.server.store().version() + 1'000'000;
  const kube::Object forged = core::forge_ledger("liqo", quota_key, record);
  REQUIRE(fixture.server.update(
      {kube::resources::config_maps, forged.key()},
      [&](json::object& tree) { tree["data"] = forged.tree().at("data"); }, "other"));
  CHECK(fixture.admits(LedgerFixture::shadow("second", "1")));
  CHECK(fixture.admits(LedgerFixture::shadow("third", "1")));
  fixture.stop();
}

TEST_CASE("stored ShadowPods are weighed by their consumer, finished ones too") {
  LedgerFixture fixture;
  fixture.apply(api::kinds::shadow_pods, LedgerFixture::shadow("web", "1"));
  fixture.start();
  fixture.apply(api::kinds::shadow_pods, LedgerFixture::shadow("db", "1"));
  REQUIRE(fixture.reaches([&] { return fixture.ledger.stored("rome").objects == 2; }));
  const std::size_t bytes = fixture.ledger.stored("rome").bytes;
  CHECK(bytes > 500);
  CHECK(fixture.ledger.stored("paris").objects == 0);
  const kube::ObjectKey db{"shop", "db"};
  static_cast<void>(fixture.server.update(
      {api::kinds::shadow_pods, db, "status"},
      [](json::object& next) { next["status"] = json::object{{"phase", "Failed"}}; }, "operator"));
  REQUIRE(fixture.reaches([&] { return fixture.ledger.stored("rome").bytes > bytes; }));
  CHECK(fixture.ledger.stored("rome").objects == 2);
  static_cast<void>(fixture.server.remove(api::kinds::shadow_pods, db, {}, "operator"));
  CHECK(fixture.reaches([&] { return fixture.ledger.stored("rome").objects == 1; }));
  fixture.stop();
}

TEST_CASE("refusals are counted by consumer and reason") {
  LedgerFixture fixture;
  fixture.start();
  const auto counts = [&](const std::string& labels) {
    return fixture.reaches([&] {
      return fixture.metrics.text().find("liqo_quota_refusals_total{" + labels + "} 1\n") != std::string::npos;
    });
  };
  CHECK_FALSE(fixture.admits(LedgerFixture::shadow("large", "100")));
  CHECK(counts(R"(cluster_id="rome",reason="no_room")"));
  static_cast<void>(fixture.server.update(
      {api::kinds::quotas, quota_key}, [](json::object& tree) { tree["spec"].as_object()["cordoned"] = true; },
      "operator"));
  CHECK_FALSE(fixture.admits(LedgerFixture::shadow("web", "1")));
  CHECK(counts(R"(cluster_id="rome",reason="cordoned")"));
  // No consumer is named if there is no Quota.
  CHECK(fixture.metrics.text().find(R"(reason="no_quota"} 0)") != std::string::npos);
  static_cast<void>(fixture.server.remove(api::kinds::quotas, quota_key, {}, "operator"));
  static_cast<void>(fixture.simulator.run_for(5s));
  CHECK_FALSE(fixture.admits(LedgerFixture::shadow("web", "1")));
  CHECK(counts(R"(cluster_id="",reason="no_quota")"));
  fixture.stop();
}

TEST_CASE("a repeated POST is not told that the quota is full of its own first one") {
  LedgerFixture fixture;
  fixture.start();
  using Ruling = core::QuotaVerdict::Ruling;
  CHECK(fixture.judge(LedgerFixture::shadow("web", "5")).ruling == Ruling::admitted);
  const core::QuotaVerdict again = fixture.judge(LedgerFixture::shadow("web", "5"));
  CHECK(again.ruling == Ruling::unavailable);
  CHECK(again.text == "pod shop/web is on its way into storage by an earlier request; ask again");
  // Others are refused, and so is what would not fit without the first one either.
  CHECK(fixture.judge(LedgerFixture::shadow("db", "5")).ruling == Ruling::refused);
  CHECK(fixture.judge(LedgerFixture::shadow("web", "9")).ruling == Ruling::refused);
  // If there is room both count, because either may be stored; a third has to wait.
  CHECK(fixture.judge(LedgerFixture::shadow("mail", "1")).ruling == Ruling::admitted);
  CHECK(fixture.judge(LedgerFixture::shadow("mail", "1")).ruling == Ruling::admitted);
  CHECK(fixture.judge(LedgerFixture::shadow("mail", "1")).ruling == Ruling::unavailable);
  CHECK(fixture.judge(LedgerFixture::shadow("db", "2")).ruling == Ruling::refused);
  // Reservations that were never stored expire, and then there is room for all.
  static_cast<void>(fixture.simulator.run_for(90s));
  CHECK(fixture.judge(LedgerFixture::shadow("web", "5")).ruling == Ruling::admitted);
  fixture.stop();
}

TEST_CASE("a record that a late cache makes large is written less often") {
  LedgerFixture fixture;
  fixture.start();
  // Nothing of this is ever seen stored, as by a replica whose watch hangs.
  const auto bytes = [&] {
    std::size_t sum = 0;
    for (const auto& record : fixture.server.list(kube::resources::config_maps, "liqo"))
      sum += json::serialize(*record).size();
    return sum;
  };
  const auto writes = [&] {
    return std::ranges::count_if(fixture.server.writes(),
                                 [](const auto& write) { return write.plural == "configmaps"; });
  };
  for (int i = 0; i < 3000; ++i) fixture.ask(LedgerFixture::shadow("a" + std::to_string(i), "1m"));
  REQUIRE(fixture.reaches([&] { return fixture.answers() == 3000; }));
  CHECK(bytes() > 100'000);
  const auto before = writes();
  for (int i = 0; i < 200; ++i) {
    fixture.ask(LedgerFixture::shadow("b" + std::to_string(i), "1m"));
    static_cast<void>(fixture.simulator.run_for(10ms));
  }
  REQUIRE(fixture.reaches([&] { return fixture.answers() == 3200; }));
  // Two seconds: a write for each 20 ms would have been 100.
  CHECK(writes() - before < 50);
  fixture.stop();
}

TEST_CASE("of a Quota that went nothing is kept once its last admission has expired, and it may come back") {
  LedgerFixture fixture;
  fixture.start();
  for (int round = 0; round < 2; ++round) {
    CAPTURE(round);
    CHECK(fixture.admits(LedgerFixture::shadow("web", "5")));
    CHECK(fixture.records() == 1);
    // Its desk counts what it refuses.
    CHECK_FALSE(fixture.admits(LedgerFixture::shadow("more", "5")));
    CHECK(fixture.metrics.text().contains("reason=\"no_room\""));
    static_cast<void>(fixture.server.remove(api::kinds::quotas, quota_key, {}, "operator"));
    // It may still be stored.
    static_cast<void>(fixture.simulator.run_for(60s));
    CHECK(fixture.records() == 1);
    CHECK_FALSE(fixture.admits(LedgerFixture::shadow("web", "5")));
    CHECK(fixture.reaches([&] { return fixture.records() == 0; }));
    CHECK(fixture.reaches([&] { return !fixture.metrics.text().contains("reason=\"no_room\""); }));
    fixture.grant();
    static_cast<void>(fixture.simulator.run_for(1s));
  }
  CHECK(fixture.admits(LedgerFixture::shadow("web", "8")));
  fixture.stop();
}

TEST_CASE("what was admitted by a Quota that went counts against the one that comes by its name") {
  LedgerFixture fixture;
  fixture.start();
  CHECK(fixture.admits(LedgerFixture::shadow("web", "5")));
  static_cast<void>(fixture.server.remove(api::kinds::quotas, quota_key, {}, "operator"));
  static_cast<void>(fixture.simulator.run_for(10s));
  fixture.grant();
  static_cast<void>(fixture.simulator.run_for(1s));
  CHECK_FALSE(fixture.admits(LedgerFixture::shadow("db", "5")));
  CHECK(fixture.admits(LedgerFixture::shadow("db", "3")));
  fixture.stop();
}

TEST_CASE("a Quota without a record is decided upon with every ShadowPod that is stored, however late the watch is") {
  LedgerFixture fixture;
  fixture.start();
  fixture.link.set_faults({.stalled = 1, .stalled_by = 60min});
  fixture.apply(api::kinds::shadow_pods, LedgerFixture::shadow("web", "5"));
  CHECK_FALSE(fixture.admits(LedgerFixture::shadow("db", "5")));
  CHECK(fixture.used_cpu() == "0");
  fixture.stop();
}

TEST_CASE("who was refused because the Quota had been lowered is refused again, though a reservation is left") {
  LedgerFixture fixture;
  fixture.start();
  fixture.link.set_faults({.stalled = 1, .stalled_by = 60min});
  static_cast<void>(fixture.server.update(
      {api::kinds::quotas, quota_key},
      [](json::object& quota) { quota["spec"].get_object()["resources"].get_object()["cpu"] = "3"; }, "operator"));
  CHECK_FALSE(fixture.admits(LedgerFixture::shadow("web", "5"), "the-same"));
  CHECK(fixture.records() == 1);
  CHECK_FALSE(fixture.admits(LedgerFixture::shadow("web", "5"), "the-same"));
  fixture.stop();
}

/// "web" of so many cores is stored and counted.
struct Growing : LedgerFixture {
  explicit Growing(std::string_view cpu) {
    apply(api::kinds::shadow_pods, shadow("web", cpu));
    start();
    REQUIRE(reaches([&] { return used_cpu() == cpu; }));
  }
  kube::Object stored() { return kube::Object(*server.get(api::kinds::shadow_pods, {"shop", "web"})); }
  static void set_cpu(json::object& shadow, std::string_view cpu) {
    shadow["spec"].as_object()["pod"].as_object()["containers"].as_array()[0].as_object()["resources"] =
        json::object{{"requests", json::object{{"cpu", cpu}}}};
  }
  void store(std::string_view cpu) {
    static_cast<void>(server.update(
        {api::kinds::shadow_pods, {"shop", "web"}}, [&](json::object& next) { set_cpu(next, cpu); }, "consumer"));
  }
  core::QuotaVerdict resize(std::string_view cpu, bool dry_run = false) {
    std::optional<core::QuotaVerdict> verdict;
    spawn(ask_resize(ledger, stored(), std::string(cpu), dry_run, verdict));
    REQUIRE(reaches([&] { return verdict.has_value(); }));
    return *verdict;
  }
  static boost::asio::awaitable<void> ask_resize(QuotaLedger& ledger, kube::Object before, std::string cpu,
                                                 bool dry_run, std::optional<core::QuotaVerdict>& verdict) {
    kube::Object after = before;
    set_cpu(after.tree(), cpu);
    verdict = co_await ledger.decide_on(after, &before, dry_run, {});
  }
};

TEST_CASE("a pod that grows takes the difference from when it is let, and no more once it is stored") {
  Growing f("1");
  CHECK(f.resize("6").ruling == core::QuotaVerdict::Ruling::admitted);
  CHECK_FALSE(f.admits(LedgerFixture::shadow("other", "3")));
  // Only one of several changes from one version will be stored, and each counts until it is known which.
  CHECK(f.resize("4").ruling == core::QuotaVerdict::Ruling::refused);
  CHECK(f.resize("2").ruling == core::QuotaVerdict::Ruling::admitted);
  f.store("6");
  REQUIRE(f.reaches([&] { return f.used_cpu() == "6"; }));
  CHECK(f.admits(LedgerFixture::shadow("other", "2")));
  CHECK(f.judge(LedgerFixture::shadow("more", "1")).ruling == core::QuotaVerdict::Ruling::refused);
  const core::QuotaVerdict refused = f.resize("7");
  CHECK(refused.ruling == core::QuotaVerdict::Ruling::refused);
  CHECK(refused.text.contains("asked 1, used 8 of 8, free 0"));
  f.stop();
}

TEST_CASE("what a pod was let grow and did not is free again") {
  Growing f("1");
  REQUIRE(f.resize("8").ruling == core::QuotaVerdict::Ruling::admitted);
  CHECK_FALSE(f.admits(LedgerFixture::shadow("other", "1")));
  static_cast<void>(f.simulator.run_for(2min));
  CHECK(f.admits(LedgerFixture::shadow("other", "7")));
  f.stop();
}

TEST_CASE("a pod that shrinks reserves nothing, and may where the quota takes no more") {
  Growing f("4");
  static_cast<void>(f.server.update(
      {api::kinds::quotas, quota_key}, [](json::object& quota) { quota["spec"].as_object()["cordoned"] = true; },
      "operator"));
  CHECK(f.resize("1").ruling == core::QuotaVerdict::Ruling::admitted);
  CHECK(f.records() == 0);
  const core::QuotaVerdict more = f.resize("5");
  CHECK(more.ruling == core::QuotaVerdict::Ruling::refused);
  CHECK(more.reason == core::QuotaRefusal::cordoned);
  f.store("1");
  // Its Pod may still be created with the earlier requests.
  static_cast<void>(f.simulator.run_for(1min));
  CHECK(f.used_cpu() == "4");
  kube::Object pod = core::forge_provider_pod(f.stored());
  f.apply(kube::resources::pods, pod.tree());
  CHECK(f.reaches([&] { return f.used_cpu() == "1"; }));
  f.stop();
}

TEST_CASE("a resize keeps to what the quota demands of pods, and a dry run reserves nothing") {
  Growing f("1");
  CHECK(f.resize("5", true).ruling == core::QuotaVerdict::Ruling::admitted);
  CHECK(f.admits(LedgerFixture::shadow("other", "7")));
  CHECK(f.resize("2", true).ruling == core::QuotaVerdict::Ruling::refused);
  static_cast<void>(f.server.update(
      {api::kinds::quotas, quota_key},
      [](json::object& quota) { quota["spec"].as_object()["limitsEnforcement"] = "Hard"; }, "operator"));
  const core::QuotaVerdict open = f.resize("500m");
  CHECK(open.ruling == core::QuotaVerdict::Ruling::refused);
  CHECK(open.reason == core::QuotaRefusal::enforcement);
  f.stop();
}

}  // namespace

TEST_CASE("who waits while the ledger ends is told at once, also where the record is being written") {
  LedgerFixture f;
  f.start();
  REQUIRE(f.admits(LedgerFixture::shadow("first", "1")));
  static_cast<void>(f.simulator.run_for(1s));
  f.link.partition();
  f.ask(LedgerFixture::shadow("written", "1"));
  static_cast<void>(f.simulator.run_for(100ms));
  f.ask(LedgerFixture::shadow("queued", "1"));
  static_cast<void>(f.simulator.run_for(100ms));
  REQUIRE(f.answers() == 0);
  f.stop_ledger();
  static_cast<void>(f.simulator.run_for(100ms));
  CHECK(f.answers() == 2);
  f.stop();
}

TEST_CASE("a record that cannot be written is told as such, and not as another replica's") {
  LedgerFixture f;
  f.start();
  f.transport.fails = [](const kube::HttpRequest& request) {
    return request.method != "GET" && request.resource == "configmaps";
  };
  const core::QuotaVerdict verdict = f.judge(LedgerFixture::shadow("web", "1"));
  CHECK(verdict.ruling == core::QuotaVerdict::Ruling::unavailable);
  CHECK(verdict.text.starts_with("quota liqo-tenant-rome/pool: its record cannot be written: "));
  CHECK(f.metrics.text().contains("liqo_quota_conflicts_total 0"));
  f.stop();
}

TEST_CASE("a Pod whose ShadowPod came and went between two lists counts, though the cache of Pods is late") {
  LedgerFixture f;
  f.server.manners().streaming_lists = kube::testing::FakeManners::StreamingLists::off;
  f.start();
  // ShadowPods are listed again, Pods only when the test allows it: their watch cannot be opened again.
  bool pods_answer = false;
  f.transport.fails = [&](const kube::HttpRequest& request) {
    return request.target.starts_with("/api/v1/pods?") &&
           (!pods_answer || request.target.find("watch=") != std::string::npos);
  };
  f.link.cut_watches();
  f.apply(api::kinds::shadow_pods, LedgerFixture::shadow("web", "6"));
  const auto shadow = f.server.get(api::kinds::shadow_pods, {"shop", "web"});
  f.apply(
      kube::resources::pods,
      {{"metadata", json::object{{"name", "web"},
                                 {"namespace", "shop"},
                                 {"labels", json::object{{api::labels::managed_by, api::labels::managed_by_shadow_pod},
                                                         {api::labels::creator_user, "pool"}}},
                                 {"ownerReferences",
                                  json::array{json::object{{"apiVersion", "offloading.liqo.io/v1beta1"},
                                                           {"kind", "ShadowPod"},
                                                           {"name", "web"},
                                                           {"uid", kube::string_at(*shadow, {"metadata", "uid"})},
                                                           {"controller", true}}}}}},
       {"spec", kube::object_at(*shadow, {"spec", "pod"})}});
  static_cast<void>(f.server.remove(api::kinds::shadow_pods, {"shop", "web"}, {}, "consumer"));
  f.server.store().compact(f.server.store().version());
  CHECK_FALSE(f.reaches([] { return false; }));
  CHECK(f.judge(LedgerFixture::shadow("other", "4")).ruling == core::QuotaVerdict::Ruling::unavailable);
  pods_answer = true;
  CHECK_FALSE(f.admits(LedgerFixture::shadow("other", "4")));
  CHECK(f.reaches([&] { return f.used_cpu() == "6"; }));
  CHECK(f.judge(LedgerFixture::shadow("other", "4")).ruling == core::QuotaVerdict::Ruling::refused);
  CHECK(f.admits(LedgerFixture::shadow("other", "2")));
  f.stop();
}

}  // namespace liqo::quota
