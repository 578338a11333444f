// Which reservations are stored by now, how much the others hold, and which are due to expire.
#include "quota/reservations.hpp"

#include <doctest/doctest.h>

namespace liqo::quota {
namespace {

using namespace std::chrono_literals;

const kube::TimePoint start{};

core::Reservation cpu(std::string_view amount, std::uint64_t from = 0) {
  return {.pod = {"shop", "web"},
          .demand = *core::read_resources(kube::json::object{{"cpu", amount}}),
          .unproven = false,
          .from = from};
}

/// A ShadowPod of UID "seen" is stored with version 7.
core::QuotaAccount account() {
  core::QuotaAccount made;
  static_cast<void>(made.set(
      {"shop", "web"}, core::HeldShadow{.uid = "seen", .user = "pool", .demand = {}, .finished = false, .version = 7},
      std::nullopt));
  return made;
}

TEST_CASE("a new ShadowPod is stored once it is seen, one that grows once a later version is") {
  struct Case {
    const char* name;
    std::string key;
    std::uint64_t from, version;
  };
  for (const Case& c : {Case{"seen", "seen", 0, 7}, Case{"on its way", "unseen", 0, 0},
                        Case{"grown since version 6", core::growth_key("seen", 1), 6, 7},
                        Case{"to grow from version 7", core::growth_key("seen", 1), 7, 0}}) {
    CAPTURE(c.name);
    CHECK(stored_version(account(), c.key, cpu("1", c.from)) == c.version);
  }
}

TEST_CASE("what is not stored yet is reserved, and the floor says that the rest is stored") {
  core::LedgerRecord record{.floor = 3, .reservations = {}, .unreadable = {}};
  record.reservations = {{"seen", cpu("1")}, {"unseen", cpu("2")}, {core::growth_key("seen", 1), cpu("4", 7)}};
  record.unreadable["bad"] = "?";
  CHECK(core::amount(reserved(account(), record), "cpu").text() == "6");
  CHECK(drop_stored(account(), record) == 1);
  CHECK(record.floor == 7);
  CHECK(record.reservations.size() == 2);
  CHECK(record.unreadable.size() == 1);
  record.unreadable.clear();
  record.unreadable["seen"] = "?";
  CHECK(drop_stored(account(), record) == 1);
  CHECK(record.unreadable.empty());
  // A floor that is newer stays.
  record.floor = 100;
  record.reservations["seen"] = cpu("1");
  CHECK(drop_stored(account(), record) == 1);
  CHECK(record.floor == 100);
}

TEST_CASE("reservations that nobody has seen stored in time are due, those that could not be looked at last") {
  KnownRecord known;
  core::LedgerRecord record;
  record.reservations = {{"seen", cpu("1")}, {"a", cpu("1")}, {"b", cpu("1")}};
  for (const char* uid : {"bad", "seen-too"}) record.unreadable[uid] = "?";
  known.adopt(record, "1", 0, start);
  record.reservations["late"] = cpu("1");
  known.adopt(record, "2", 0, start + 30s);
  known.note_unclear("a", 40);
  core::QuotaAccount seen = account();
  static_cast<void>(
      seen.set({"shop", "db"},
               core::HeldShadow{.uid = "seen-too", .user = "pool", .demand = {}, .finished = false, .version = 8},
               std::nullopt));
  const DueReservations due = find_due(seen, known, start + 70s, 70s);
  REQUIRE(due.readable.size() == 2);
  CHECK(due.readable[0].first == "b");
  CHECK(due.readable[1].first == "a");
  CHECK(due.unreadable == std::set<std::string>{"bad"});
  const DueReservations none = find_due(seen, known, start + 69s, 70s);
  CHECK(none.readable.empty());
  CHECK(none.unreadable.empty());
}

}  // namespace
}  // namespace liqo::quota
