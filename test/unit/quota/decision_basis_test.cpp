// The state machine of a desk: the Quota by which a batch is decided, and the reads and writes before its verdicts are
// passed on.
#include "quota/decision_basis.hpp"

#include <doctest/doctest.h>

namespace liqo::quota {
namespace {

namespace json = kube::json;
using Step = DecisionBasis::Step;

kube::Object quota(std::int64_t generation, std::string_view cpu = "8", std::string_view uid = "uid-1") {
  return kube::Object(json::object{
      {"metadata",
       json::object{{"name", "pool"}, {"namespace", "liqo-tenant-rome"}, {"uid", uid}, {"generation", generation}}},
      {"spec", json::object{{"resources", json::object{{"cpu", cpu}}}}}});
}

/// A decision that has read the Quota of the cache from the server, or not.
DecisionBasis basis_of(bool is_live) {
  DecisionBasis basis(quota(1));
  if (is_live) basis.observe_quota(quota(1));
  return basis;
}

core::LedgerRecord naming(std::string uid, std::int64_t generation) {
  return {.floor = 0,
          .reservations = {},
          .unreadable = {},
          .quota = core::QuotaVersion{.uid = std::move(uid), .generation = generation}};
}

TEST_CASE("what a round needs before it is told") {
  struct Case {
    const char* name;
    bool has_read, is_live;
    DecisionBasis::Needs needs;
    bool is_floor_old;
    Step step;
    bool wants_quota;
  };
  for (const Case& c : {
           Case{"nothing", false, false, {}, false, Step::answer, false},
           Case{"a refusal by the caches", false, false, {.newest = true, .write = false}, false, Step::read, true},
           Case{"a refusal by a cached Quota",
                true,
                false,
                {.newest = true, .write = false},
                false,
                Step::read_again,
                true},
           Case{"a refusal by a record not read",
                false,
                true,
                {.newest = true, .write = false},
                false,
                Step::read,
                false},
           Case{"a refusal by what was read", true, true, {.newest = true, .write = false}, false, Step::answer, false},
           Case{"a refusal by an old floor", true, true, {.newest = true, .write = false}, true, Step::answer, false},
           Case{"a reservation by the caches",
                false,
                false,
                {.newest = false, .write = true},
                false,
                Step::write,
                false},
           Case{"a refusal beside it", false, false, {.newest = true, .write = true}, false, Step::write, false},
           Case{"a reservation by an old floor",
                false,
                false,
                {.newest = false, .write = true},
                true,
                Step::read_again,
                false},
       }) {
    CAPTURE(c.name);
    DecisionBasis basis = basis_of(c.is_live);
    if (c.has_read) basis.note_record_read();
    CHECK(basis.after_round(c.needs, c.is_floor_old) == c.step);
    CHECK(basis.wants_quota() == c.wants_quota);
    CHECK(basis.wants_floor() == (c.needs.write && c.is_floor_old));
  }
}

TEST_CASE("what was written is told if it was decided by the Quota that is there now") {
  struct Case {
    const char* name;
    bool was_live;
    DecisionBasis::Written written;
    bool by_quota, is_final, wants_quota;
  };
  const auto written = [](std::optional<kube::Object> live, bool is_stored = true, bool was_first = false) {
    return DecisionBasis::Written{.was_first = was_first, .is_stored = is_stored, .live = std::move(live)};
  };
  for (const Case& c : {
           Case{"read before", true, written({}), true, true, false},
           Case{"read before, another replica was faster", true, written({}, false), true, false, false},
           Case{"read beside", false, written(quota(1)), true, true, false},
           Case{"read beside, another replica was faster", false, written(quota(1), false), true, false, false},
           Case{"changed elsewhere than in its spec", false, written(quota(2)), true, true, false},
           Case{"lowered", false, written(quota(2, "2")), false, false, false},
           Case{"another one of its name", false, written(quota(1, "8", "uid-2")), false, false, false},
           Case{"it could not be read", false, written({}), false, false, true},
           Case{"the first record, read after it", true, written(quota(1), true, true), true, true, false},
           Case{"the first record, lowered after it", true, written(quota(2, "2"), true, true), false, false, false},
           Case{"the first record, not read after it", true, written({}, true, true), false, false, true},
       }) {
    CAPTURE(c.name);
    DecisionBasis basis = basis_of(c.was_live);
    const DecisionBasis::Standing standing = basis.after_write(c.written);
    CHECK(standing.by_quota == c.by_quota);
    CHECK(standing.is_final == c.is_final);
    CHECK(basis.wants_quota() == c.wants_quota);
    // The next round decides by what was read.
    if (c.written.live) CHECK(core::version_of_quota(basis.quota()) == core::version_of_quota(*c.written.live));
  }
}

TEST_CASE("after another replica was faster the record is read again before anybody is refused") {
  for (const bool is_stored : {true, false}) {
    CAPTURE(is_stored);
    DecisionBasis basis = basis_of(true);
    static_cast<void>(basis.after_write({.was_first = false, .is_stored = is_stored, .live = {}}));
    CHECK(basis.after_round({.newest = true, .write = false}, false) == (is_stored ? Step::answer : Step::read));
  }
}

TEST_CASE("the Quota is read beside a write if it was not before, and there is a record to name it") {
  KnownRecord none, stored;
  none.adopt_none(7, {});
  stored.adopt({}, "8", 0, {});
  CHECK(basis_of(false).reads_beside_write(stored));
  CHECK_FALSE(basis_of(false).reads_beside_write(none));
  CHECK_FALSE(basis_of(true).reads_beside_write(stored));
  CHECK(basis_of(false).wants_record(none));
  CHECK_FALSE(basis_of(false).wants_record(stored));
  stored.distrust();
  CHECK(basis_of(false).wants_record(stored));
}

TEST_CASE("a Quota that the cache does not have is read from the server") {
  DecisionBasis basis(std::nullopt);
  CHECK(basis.wants_quota());
  basis.observe_quota(quota(1));
  CHECK_FALSE(basis.wants_quota());
  CHECK(basis.is_live());
}

TEST_CASE("a Quota is read again if the record names another or a newer one, once for each that it names") {
  DecisionBasis basis = basis_of(false);
  CHECK_FALSE(basis.is_outdated_by({}));
  CHECK_FALSE(basis.is_outdated_by(naming("uid-1", 1)));
  CHECK_FALSE(basis.is_outdated_by(naming("uid-1", 0)));
  CHECK(basis.is_outdated_by(naming("uid-1", 2)));
  CHECK(basis.wants_quota());
  // The server still has that one: it is no older than what the record names.
  basis.observe_quota(quota(1));
  CHECK_FALSE(basis.is_outdated_by(naming("uid-1", 2)));
  CHECK(basis.is_outdated_by(naming("", 0)));
  basis.observe_quota(quota(1));
  CHECK(basis.is_outdated_by(naming("uid-2", 1)));
  CHECK_FALSE(basis.is_live());
}

}  // namespace
}  // namespace liqo::quota
