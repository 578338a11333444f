#include "kube/runtime/schedule.hpp"

#include <doctest/doctest.h>

using namespace kube;
using namespace std::chrono_literals;

namespace {

const TimePoint start{};
WorkKey key(const char* name, const char* group = "milan") { return {group, {"ns", name}}; }

}  // namespace

TEST_CASE("a key added twice is handed out once") {
  Schedule schedule({});
  schedule.add(key("a"), start);
  schedule.add(key("a"), start);
  CHECK(schedule.pop(start) == key("a"));
  CHECK_FALSE(schedule.pop(start));
}

TEST_CASE("a key is never handed out twice at a time, and once more when it was added meanwhile") {
  Schedule schedule({});
  schedule.add(key("a"), start);
  REQUIRE(schedule.pop(start));
  schedule.add(key("a"), start);
  CHECK_FALSE(schedule.pop(start));
  schedule.done(key("a"), start);
  CHECK(schedule.pop(start) == key("a"));
  schedule.done(key("a"), start);
  CHECK_FALSE(schedule.pop(start));
}

TEST_CASE("a delayed key comes when it is due, and earlier when it is added") {
  Schedule schedule({});
  schedule.add_at(key("a"), start + 10s);
  CHECK_FALSE(schedule.pop(start + 9s));
  CHECK(schedule.next_due() == start + 10s);
  CHECK(schedule.pop(start + 10s) == key("a"));
  schedule.done_until(key("a"), start + 10s, start + 60s);
  schedule.add_at(key("a"), start + 30s);
  CHECK(schedule.next_due() == start + 30s);
  schedule.add(key("a"), start + 11s);
  CHECK(schedule.pop(start + 11s) == key("a"));
  schedule.done(key("a"), start + 12s);
  // What others asked for still comes.
  CHECK(schedule.next_due() == start + 30s);
  CHECK(schedule.pop(start + 30s) == key("a"));
  schedule.done(key("a"), start + 30s);
  CHECK_FALSE(schedule.next_due());
}

TEST_CASE("a failing key that was added meanwhile comes again soon, but not at once") {
  Random random(1);
  Schedule schedule({.backoff = {10s, 60s}});
  schedule.add(key("a"), start);
  REQUIRE(schedule.pop(start));
  schedule.add(key("a"), start);
  CHECK(schedule.failed(key("a"), start, random) == 1s);
  CHECK_FALSE(schedule.pop(start));
  REQUIRE(schedule.pop(start + 1s));
  CHECK(schedule.failed(key("a"), start + 1s, random) > 7s);
}

TEST_CASE("a failing key waits for as long as it was asked to, and comes at once where it is added meanwhile") {
  Random random(1);
  Schedule schedule({.backoff = {10s, 60s}});
  schedule.add(key("a"), start);
  REQUIRE(schedule.pop(start));
  schedule.add(key("a"), start);
  CHECK(schedule.failed(key("a"), start, random, 45s) == 45s);
  CHECK_FALSE(schedule.pop(start + 44s));
  REQUIRE(schedule.pop(start + 45s));
  // What is shorter than the own pause counts for nothing.
  CHECK(schedule.failed(key("a"), start + 45s, random, 1s) > 7s);
  schedule.add(key("a"), start + 46s);
  CHECK(schedule.pop(start + 46s));
}

TEST_CASE("a later delay does not push an earlier one back") {
  Schedule schedule({});
  schedule.add_at(key("a"), start + 5s);
  schedule.add_at(key("a"), start + 50s);
  CHECK(schedule.next_due() == start + 5s);
}

TEST_CASE("failures wait longer and longer, and are forgotten after a success") {
  Random random(1);
  Schedule schedule({.backoff = {100ms, 10s}});
  TimePoint now = start;
  Duration before{};
  for (int i = 0; i < 6; ++i) {
    schedule.add(key("a"), now);
    REQUIRE(schedule.pop(now));
    const Duration pause = schedule.failed(key("a"), now, random);
    CAPTURE(i);
    CHECK(pause > before);
    CHECK(pause <= 100ms * (1 << i));
    before = pause;
    now += pause;
  }
  REQUIRE(schedule.pop(now));
  schedule.done(key("a"), now);
  schedule.add(key("a"), now);
  REQUIRE(schedule.pop(now));
  CHECK(schedule.failed(key("a"), now, random) <= 100ms);
}

TEST_CASE("groups take turns however many keys one of them adds") {
  Schedule schedule({.workers = 100, .workers_per_group = 100});
  for (int i = 0; i < 50; ++i) schedule.add(key(std::to_string(i).c_str(), "noisy"), start);
  schedule.add(key("x", "quiet"), start);
  int position = 0;
  while (auto next = schedule.pop(start)) {
    ++position;
    if (next->group == "quiet") break;
  }
  CHECK(position <= 2);
}

TEST_CASE("a group whose work hangs leaves workers to the others") {
  Schedule schedule({.workers = 8, .workers_per_group = 4});
  for (int i = 0; i < 20; ++i) schedule.add(key(std::to_string(i).c_str(), "dead"), start);
  int taken = 0;
  while (schedule.pop(start)) ++taken;
  CHECK(taken == 4);
  schedule.add(key("x", "alive"), start);
  CHECK(schedule.pop(start) == key("x", "alive"));
}

TEST_CASE("the number of workers may change while some work") {
  Schedule schedule({.workers = 8, .workers_per_group = 8});
  for (int i = 0; i < 20; ++i) schedule.add(key(std::to_string(i).c_str(), "a"), start);
  std::vector<WorkKey> running;
  while (const auto next = schedule.pop(start)) running.push_back(*next);
  REQUIRE(running.size() == 8);
  schedule.set_workers(4, 2);
  for (int i = 0; i < 6; ++i) {
    CHECK_FALSE(schedule.pop(start));
    schedule.done(running[std::size_t(i)], start);
  }
  CHECK_FALSE(schedule.pop(start));
  schedule.done(running[6], start);
  CHECK(schedule.pop(start));
  CHECK_FALSE(schedule.pop(start));
  schedule.set_workers(4, 4);
  CHECK(schedule.pop(start));
}

TEST_CASE("nothing is kept of keys that are done") {
  Schedule schedule({});
  for (int i = 0; i < 1000; ++i) {
    const WorkKey each = key(std::to_string(i).c_str(), std::to_string(i % 7).c_str());
    schedule.add(each, start);
    REQUIRE(schedule.pop(start) == each);
    schedule.done(each, start);
  }
  CHECK(schedule.depth() == 0);
  CHECK(schedule.running() == 0);
  CHECK(schedule.waiting() == 0);
}
