// Which Events of a twin are reported at home as warnings about copies.
#include "core/reflection/copy_warnings.hpp"

#include <doctest/doctest.h>

#include "../objects.hpp"

namespace liqo::core::reflection {
namespace {

using namespace testing;
using namespace std::chrono_literals;

/// The fields of an Event about Service "web" that matter, the others as in a Warning of 10:00.
json::object event(std::string_view fields) {
  json::object made = parse_value(R"({"metadata": {"name": "web.1", "uid": "e1", "resourceVersion": "7"},
    "type": "Warning", "reason": "SyncLoadBalancerFailed", "message": "no room",
    "lastTimestamp": "2026-11-21T10:00:00Z",
    "involvedObject": {"kind": "Service", "name": "web", "uid": "c1"}})")
                          .as_object();
  for (const auto& [key, value] : parse_value(fields).as_object()) made[key] = value;
  return made;
}

const kube::WallTime ten = *kube::parse_time("2026-11-21T10:00:00Z");
const kube::TimePoint start{1h};

CopyWarning warning(std::string_view event, std::uint64_t version, std::string_view object = "c1",
                    kube::WallTime time = ten) {
  return {.event = std::string(event),
          .version = version,
          .kind = "Service",
          .name = "web",
          .uid = std::string(object),
          .words = "no room",
          .time = time};
}

}  // namespace

TEST_CASE("a Warning about an object that is no pod may be told") {
  struct {
    const char* what;
    const char* fields;
    bool is_told;
  } const cases[] = {
      {"as it is", "{}", true},
      {"no Warning", R"({"type": "Normal"})", false},
      {"no type", R"({"type": 7})", false},
      {"of a pod", R"({"involvedObject": {"kind": "Pod", "name": "web", "uid": "c1"}})", false},
      {"of a ShadowPod", R"({"involvedObject": {"kind": "ShadowPod", "name": "web", "uid": "c1"}})", false},
      {"of no object that is known by its UID", R"({"involvedObject": {"kind": "Service", "name": "web"}})", false},
      {"of nothing", R"({"involvedObject": []})", false},
      {"without words", R"({"reason": "", "message": "\n"})", false},
      {"without a UID of its own", R"({"metadata": {"resourceVersion": "7"}})", false},
  };
  for (const auto& [what, fields, is_told] : cases) {
    CAPTURE(what);
    CHECK(copy_warnings(json::array{event(fields)}).size() == (is_told ? 1 : 0));
  }
}

TEST_CASE("what it says is one line of bounded length") {
  const json::array events{event(R"({"message": "no\u202e\nroom"})")};
  const auto found = copy_warnings(events);
  REQUIRE(found.size() == 1);
  CHECK(found[0].version == 7);
  CHECK(found[0].time == ten);
  CHECK(copy_warning_message("milan", found[0]) == "cluster milan warns of its copy: no room (SyncLoadBalancerFailed)");
  json::object long_one = event("{}");
  long_one["message"] = std::string(100'000, 'x');
  CHECK(copy_warnings(json::array{long_one}).at(0).words.size() < 1000);
}

TEST_CASE("of the first look counts what has happened since, of later ones what has another version") {
  CopyWarnings warnings(ten);
  CHECK_FALSE(warnings.is_news(warning("old", 3, "c1", ten - 1s), start));
  CHECK(warnings.is_news(warning("new", 4), start));
  warnings.note_reported(warning("new", 4), start);
  warnings.looked(5, start);
  CHECK_FALSE(warnings.is_news(warning("old", 3, "c1", ten - 1s), start));
  CHECK_FALSE(warnings.is_news(warning("new", 4), start));
  // The provider's clock may be wrong.
  CHECK(warnings.is_news(warning("later", 6, "c1", ten - 1h), start));
  // What was reported happens again.
  CHECK_FALSE(warnings.is_news(warning("new", 8), start + 9min));
  CHECK(warnings.is_news(warning("new", 8), start + 11min));
}

TEST_CASE("what is postponed is news at the next look, and what was told then is not") {
  CopyWarnings warnings(ten);
  warnings.postpone(warning("b", 6));
  warnings.postpone(warning("a", 4));
  warnings.note_reported(warning("c", 7), start);
  warnings.looked(9, start);
  CHECK(warnings.is_news(warning("a", 4), start));
  CHECK(warnings.is_news(warning("b", 6), start));
  CHECK_FALSE(warnings.is_news(warning("c", 7), start));
  // That it is looked at once more makes nothing of it that happened before.
  CHECK_FALSE(warnings.is_news(warning("old", 5, "c1", ten - 1s), start));
  warnings.looked(9, start);
  CHECK_FALSE(warnings.is_news(warning("b", 6), start));
}

TEST_CASE("versions that are given anew, because a database was restored, hide nothing") {
  CopyWarnings warnings(ten);
  warnings.looked(100, start);
  warnings.looked(50, start);
  CHECK(warnings.is_news(warning("a", 51), start));
  CHECK_FALSE(warnings.is_news(warning("b", 52, "c1", ten - 1s), start));
}

TEST_CASE("of one object and of one twin so much is told and no more") {
  CopyWarnings warnings(ten);
  int told = 0, of_first = 0;
  for (int object = 0; object < 100; ++object)
    for (int event = 0; event < 10; ++event) {
      const CopyWarning next = warning(std::to_string(object * 10 + event), 5, std::to_string(object));
      if (!warnings.is_news(next, start)) continue;
      warnings.note_reported(next, start);
      ++told;
      of_first += object == 0;
    }
  CHECK(of_first == 4);
  CHECK(told == 64);
  warnings.looked(5, start + 11min);
  CHECK(warnings.is_news(warning("x", 6, "0"), start + 11min));
}

}  // namespace liqo::core::reflection
