#include "kube/async/alarms.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace std::chrono_literals;
using kube::TimePoint;
using kube::async::Alarm;
using kube::async::Alarms;

TEST_CASE("alarms are taken by time, those of one time as they were set, and none before its turn") {
  Alarms alarms;
  std::string rung;
  const auto set = [&](char name, std::chrono::seconds at) {
    return alarms.add(TimePoint(at), [&rung, name] { rung += name; });
  };
  const auto take_all = [&](std::chrono::seconds until, std::uint64_t newest) {
    rung.clear();
    while (const auto action = alarms.take(TimePoint(until), newest)) action();
    return rung;
  };
  CHECK(alarms.next() == TimePoint::max());
  CHECK_FALSE(alarms.take(TimePoint::max()));

  set('c', 3s);
  set('a', 1s);
  const Alarm gone = set('x', 1s);
  set('b', 1s);
  const std::uint64_t before = alarms.newest();
  set('d', 1s);
  alarms.remove(gone);
  CHECK(alarms.size() == 4);
  CHECK(alarms.next() == TimePoint(1s));
  CHECK(take_all(0s, alarms.newest()) == "");
  CHECK(take_all(2s, before) == "ab");
  CHECK(take_all(2s, alarms.newest()) == "d");
  CHECK(alarms.next() == TimePoint(3s));
  CHECK(take_all(3s, alarms.newest()) == "c");
  CHECK(alarms.empty());
  // One that has been taken is forgotten already, and its number is never given again.
  alarms.remove(gone);
  CHECK(set('e', 1s) > gone);
}
