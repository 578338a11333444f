// The record of a Quota as a replica knows it, and what it knows of each reservation.
#include "quota/known_record.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace liqo::quota {
namespace {

using namespace std::chrono_literals;

const kube::TimePoint start{};

core::LedgerRecord record(const std::vector<std::string>& keys, bool unproven = false) {
  core::LedgerRecord made;
  for (const std::string& key : keys)
    made.reservations[key] = {.pod = {"shop", key}, .demand = {}, .unproven = unproven};
  return made;
}

TEST_CASE("a reservation is due once it has been known for so long, however often the record is read") {
  KnownRecord known;
  core::LedgerRecord first = record({"a", "b"});
  first.unreadable["bad"] = "?";
  known.adopt(std::move(first), "1", 0, start);
  core::LedgerRecord second = record({"a", "c"});
  second.unreadable["bad"] = "?";
  known.adopt(std::move(second), "2", 0, start + 30s);
  struct Case {
    const char* key;
    kube::Duration after;
    bool due;
  };
  for (const Case& c : {Case{"a", 69s, false}, Case{"a", 70s, true}, Case{"bad", 70s, true}, Case{"c", 99s, false},
                        Case{"c", 100s, true}, Case{"b", 1h, false}, Case{"unheard-of", 1h, false}}) {
    CAPTURE(c.key);
    CHECK(known.is_due(c.key, start + c.after, 70s) == c.due);
  }
  // A reservation that returns begins again.
  known.adopt(record({"b"}), "3", 0, start + 100s);
  CHECK_FALSE(known.is_due("b", start + 169s, 70s));
  CHECK(known.is_due("b", start + 170s, 70s));
}

TEST_CASE("a record is taken over from the cache if it is newer, and no read or write is under way") {
  KnownRecord known;
  CHECK(known.needs_read());
  CHECK_FALSE(known.is_older_than(9));
  known.adopt(record({"a"}), "7", 0, start);
  CHECK_FALSE(known.needs_read());
  CHECK_FALSE(known.is_older_than(7));
  CHECK(known.is_older_than(8));
  known.distrust();
  CHECK(known.needs_read());
  CHECK_FALSE(known.is_older_than(8));
  // Another replica may make a record that does not exist yet.
  known.adopt_none(3, start);
  CHECK(known.needs_read());
  CHECK(known.is_older_than(8));
}

TEST_CASE("if there is no record, its floor is what was listed, and old from the second time on") {
  KnownRecord known;
  CHECK_FALSE(known.has_listed_floor());
  known.adopt_none(7, start);
  CHECK(known.record().floor == 7);
  CHECK_FALSE(known.is_floor_old());
  known.adopt_none(std::nullopt, start);
  CHECK(known.record().floor == 7);
  CHECK(known.is_floor_old());
  known.adopt_none(9, start);
  CHECK(known.record().floor == 9);
  CHECK_FALSE(known.is_floor_old());
  CHECK_FALSE(known.is_stored());
  known.adopt({}, "12", 40, start);
  CHECK(known.is_stored());
  CHECK(known.bytes() == 40);
  CHECK_FALSE(known.has_listed_floor());
}

TEST_CASE("what is known of a reservation goes with it") {
  KnownRecord known;
  known.adopt(record({"a", "b"}), "1", 0, start);
  for (const char* key : {"a", "b"}) {
    known.mark_doubtful(key);
    CHECK(known.note_unclear(key, 40) == 40);
  }
  // A restored database has lower versions: the lowest one counts.
  CHECK(known.note_unclear("a", 50) == 40);
  CHECK(known.note_unclear("a", 30) == 30);
  known.adopt(record({"a"}), "2", 0, start);
  CHECK(known.is_doubtful("a"));
  CHECK(known.is_unclear("a"));
  CHECK_FALSE(known.is_doubtful("b"));
  CHECK_FALSE(known.is_unclear("b"));
  known.clear_doubt("a");
  CHECK_FALSE(known.is_doubtful("a"));
}

TEST_CASE("reservations of callers that nothing had proven are counted") {
  KnownRecord known;
  core::LedgerRecord mixed = record({"a", "b"}, true);
  mixed.reservations["c"] = {.pod = {"shop", "c"}, .demand = {}};
  known.adopt(std::move(mixed), "1", 0, start);
  CHECK(known.unproven() == 2);
  known.adopt(record({"c"}), "2", 0, start);
  CHECK(known.unproven() == 0);
}

}  // namespace
}  // namespace liqo::quota
