// The cost of the records of reservations for the API server while a replica's watch is late, and how long admissions
// wait.
#include <map>

#include "ledger_fixture.hpp"

namespace liqo::quota {
namespace {

/// How a thousand admissions come, and how late the watch is.
struct Load {
  std::string_view name;
  kube::Duration lag;
  int at_once, rounds;
  kube::Duration between;
};

struct Cost {
  std::size_t writes = 0, bytes = 0, busiest_second = 0, largest = 0;
  std::vector<kube::Duration> waited;
  kube::Duration percentile(std::size_t of_hundred) {
    std::ranges::sort(waited);
    return waited[(waited.size() - 1) * of_hundred / 100];
  }
};

/// One that is admitted is stored some milliseconds later.
boost::asio::awaitable<void> create(LedgerFixture& fixture, json::object shadow, Cost& cost) {
  const kube::TimePoint asked = fixture.simulator.clock().now();
  const kube::Object object{json::object(shadow)};
  const core::QuotaVerdict verdict = co_await fixture.ledger.decide_on(object, nullptr, false, {});
  cost.waited.push_back(fixture.simulator.clock().now() - asked);
  CHECK(verdict.ruling == core::QuotaVerdict::Ruling::admitted);
  co_await fixture.simulator.clock().sleep(5ms);
  auto& store = fixture.server.store();
  store.put(store.table(api::kinds::shadow_pods), std::move(shadow), "apiserver");
}

Cost measure(const Load& load) {
  LedgerFixture fixture;
  Cost cost;
  std::map<std::int64_t, std::size_t> by_second;
  fixture.transport.seen = [&](const kube::HttpRequest& request) {
    if (request.resource != "configmaps" || (request.method != "PUT" && request.method != "POST")) return;
    // As etcd stores it: without what JSON in JSON takes on the way.
    const auto body = kube::parse_json(request.body);
    REQUIRE(body);
    const std::size_t bytes = kube::string_at(*body, {"data", core::ledger_key}).size();
    ++cost.writes;
    cost.bytes += bytes;
    cost.largest = std::max(cost.largest, bytes);
    const auto second = std::chrono::floor<std::chrono::seconds>(fixture.simulator.clock().now().time_since_epoch());
    by_second[second.count()] += bytes;
  };
  fixture.start();
  if (load.lag > 0s) fixture.link.set_faults({.stalled = 1, .stalled_by = load.lag});
  int number = 0;
  for (int round = 0; round < load.rounds; ++round) {
    for (int i = 0; i < load.at_once; ++i, ++number) {
      json::object shadow = LedgerFixture::shadow("web-7d4b9c6f5d-" + std::to_string(number), "1m");
      // As long as a UID is.
      shadow["metadata"].get_object()["uid"] = "0d5a7a52-3f6c-4f0e-9c5e-" + std::to_string(100'000'000'000 + number);
      fixture.spawn(create(fixture, std::move(shadow), cost));
    }
    static_cast<void>(fixture.simulator.run_for(load.between));
  }
  REQUIRE(fixture.reaches([&] { return cost.waited.size() == static_cast<std::size_t>(number); }));
  for (const auto& [second, bytes] : by_second) cost.busiest_second = std::max(cost.busiest_second, bytes);
  fixture.stop();
  return cost;
}

TEST_CASE("a replica that is two seconds late writes its records at a bounded rate, and nobody waits for long") {
  // bench/README.md has the figures.
  constexpr std::size_t bytes_per_second = 2 * 1024 * 1024;
  for (const Load& load : {Load{"at once", 0s, 1000, 1, 0s}, Load{"at once, late", 2s, 1000, 1, 0s},
                           Load{"500 a second", 0s, 5, 200, 10ms}, Load{"500 a second, late", 2s, 5, 200, 10ms},
                           Load{"100 a second, late", 2s, 1, 1000, 10ms}}) {
    Cost cost = measure(load);
    CAPTURE(load.name);
    MESSAGE(load.name, ": ", cost.writes, " writes, ", cost.bytes / 1024, " KiB, busiest second ",
            cost.busiest_second / 1024, " KiB, largest ", cost.largest / 1024, " KiB, waited ",
            std::chrono::duration_cast<std::chrono::milliseconds>(cost.percentile(50)).count(), " ms, p99 ",
            std::chrono::duration_cast<std::chrono::milliseconds>(cost.percentile(99)).count(), " ms");
    // The last one of a second may be one too many.
    CHECK(cost.busiest_second <= bytes_per_second + cost.largest);
    CHECK(cost.percentile(99) < 250ms);
  }
}

}  // namespace
}  // namespace liqo::quota
