// How long a twin that the provider does not show any more counts as troubled.
#include "core/peering/missing_twins.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace std::chrono_literals;

kube::Object map_of(std::string_view desired, std::string_view current) {
  kube::Object map = testing::parse(R"({"metadata": {"name": "milan"}})");
  map.mutable_spec()["desiredMapping"] = testing::parse_value(desired);
  map.mutable_status()["currentMapping"] = testing::parse_value(current);
  return map;
}

std::string names_of(const std::vector<api::WantedNamespace>& twins) {
  std::string names;
  for (const auto& twin : twins) names += twin.local + "=" + twin.remote + " ";
  return names;
}

constexpr const char* wish = R"({"a": "a-rome", "b": "b-rome"})";
constexpr const char* both = R"({"a": {"remoteNamespace": "a-rome", "phase": "Accepted"},
                                 "b": {"remoteNamespace": "b-rome", "phase": "Accepted"}})";
constexpr const char* one = R"({"a": {"remoteNamespace": "a-rome", "phase": "Accepted"}})";

}  // namespace

TEST_CASE("a wanted twin that the provider has shown counts as troubled when it shows it no more") {
  struct Case {
    const char *title, *desired, *home, *away, *troubled;
  };
  for (const Case& c : {
           Case{"all shown", wish, both, both, ""},
           Case{"one missing", wish, both, one, "b=b-rome "},
           Case{"all missing", wish, both, "null", "a=a-rome b=b-rome "},
           Case{"never shown", wish, one, one, ""},
           Case{"deleted there", R"({"b": "b-rome"})", R"({"b": {"remoteNamespace": "b-rome", "phase": "Accepted"}})",
                R"({"b": {"remoteNamespace": "b-rome", "phase": "Terminating"}})", "b=b-rome "},
           Case{"not wanted any more", R"({"a": "a-rome"})", both, one, ""},
           Case{"wanted under another name", R"({"a": "a-rome", "b": "b-2"})", both, one, ""},
           Case{"it was going", R"({"b": "b-rome"})", R"({"b": {"remoteNamespace": "b-rome", "phase": "Terminating"}})",
                "{}", ""},
           Case{"it was in trouble", R"({"b": "b-rome"})",
                R"({"b": {"remoteNamespace": "b-rome", "phase": "CreationLoopBackOff"}})", "{}", "b=b-rome "},
       }) {
    CAPTURE(c.title);
    MissingTwins missing;
    missing.observe(map_of(c.desired, c.home), map_of(c.desired, c.away), kube::TimePoint());
    CHECK(names_of(missing.troubled(kube::TimePoint())) == c.troubled);
    CHECK(missing.left(kube::TimePoint()).has_value() == (*c.troubled != 0));
  }
}

TEST_CASE("five minutes after the replica was last seen without the wish, a missing twin is gone") {
  const kube::Object home = map_of(wish, both), unasked = map_of(R"({"a": "a-rome"})", one), asked = map_of(wish, one);
  MissingTwins missing;
  kube::TimePoint now;
  missing.observe(home, unasked, now);
  // The provider takes no writes for some minutes.
  now += 4min;
  missing.observe(home, unasked, now);
  now += 1s;
  missing.observe(home, asked, now);
  CHECK(missing.left(now) == missing_patience - 1s);
  now += 4min;
  missing.observe(home, asked, now);
  CHECK(names_of(missing.troubled(now)) == "b=b-rome ");
  now += 1min;
  CHECK(missing.troubled(now).empty());
  CHECK_FALSE(missing.left(now));
  // It is back, and goes again: the time starts again.
  missing.observe(home, home, now);
  missing.observe(home, asked, now);
  CHECK(missing.left(now) == missing_patience);
}

}  // namespace liqo::core
