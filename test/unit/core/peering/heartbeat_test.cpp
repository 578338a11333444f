// The heartbeat of consumers: who is silent, and what becomes of it.
#include "core/peering/heartbeat.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using namespace std::chrono_literals;

kube::Object lease(std::string_view renewed) {
  return parse(R"({"metadata": {"name": "liqo-heartbeat"}, "spec": {"holderIdentity": "rome", "renewTime": ")" +
               std::string(renewed) + R"("}})");
}

kube::Object tenant(std::string_view cordoned_since = "") {
  kube::Object made = parse(R"({"metadata": {"name": "rome", "namespace": "liqo-tenant-rome", "uid": "t1",
    "resourceVersion": "7"}, "spec": {"clusterID": "rome"}})");
  if (!cordoned_since.empty()) made.set_annotation("liqo.io/cordoned-silent-since", cordoned_since);
  return made;
}

}  // namespace

TEST_CASE("a tenant that has beaten and is silent for too long is cordoned, once for each silence") {
  constexpr const char* last = "2026-11-21T10:00:00.000000Z";
  struct Case {
    const char* title;
    kube::Object lease, tenant;
    std::chrono::seconds later;
    bool cordon;
    std::chrono::seconds seen = 0s;
  };
  const Case cases[] = {
      {"it has just beaten", lease(last), tenant(), 1h, false},
      {"not yet long enough", lease(last), tenant(), 24h - 1s, false},
      {"silent", lease(last), tenant(), 24h, true},
      {"somebody has uncordoned it", lease(last), tenant(last), 240h, false},
      {"silent again", lease(last), tenant("2026-10-21T10:00:00.000000Z"), 24h, true},
      {"it never beat", lease(""), tenant(), 240h, false},
      {"no time", lease("yesterday"), tenant(), 240h, false},
      {"a clock that is ahead", lease("2026-11-21T23:00:00Z"), tenant(), 1h, false},
      {"the first year", lease("0001-01-01T00:00:00.000000Z"), tenant(), 0s, true},
      {"long before there were clusters", lease("1600-01-01T00:00:00Z"), tenant(), 0s, true},
      {"in centuries, seen just now", lease("2300-01-01T00:00:00Z"), tenant(), 240h, false, 240h - 1s},
      {"in centuries, and nothing since", lease("2300-01-01T00:00:00Z"), tenant(), 24h, true},
      {"in centuries, uncordoned", lease("2300-01-01T00:00:00Z"), tenant("2300-01-01T00:00:00Z"), 240h, false},
      {"the last year, in a leap second", lease("9999-12-31T23:59:60Z"), tenant(), 24h, true},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const SilencePlan plan =
        plan_silence({.lease = c.lease, .tenant = c.tenant, .now = at(c.later), .seen = at(c.seen)}, 24h);
    const auto* wait = std::get_if<silence_action::LookAgain>(&plan);
    CHECK((wait == nullptr) == c.cordon);
    if (wait) CHECK(wait->after == 10min);
  }
}

TEST_CASE("people are told since when a consumer is silent, whatever its clock says") {
  const kube::Object active = tenant();
  const auto told = [&](std::string_view renewed) {
    const kube::Object beats = lease(renewed);
    const SilencePlan plan = plan_silence({.lease = beats, .tenant = active, .now = at(25h), .seen = at(30min)}, 24h);
    const auto* cordon = std::get_if<silence_action::Cordon>(&plan);
    REQUIRE(cordon);
    CHECK(cordon->last == renewed);
    return cordon->since;
  };
  CHECK(told("2026-11-21T10:00:00.000000Z") == "2026-11-21T10:00:00.000000Z");
  CHECK(told("2300-01-01T00:00:00Z") == "2026-11-21T10:30:00Z");
}

TEST_CASE("when a heartbeat far ahead was seen is kept on the Tenant, once, and read again") {
  constexpr std::string_view far = "2300-01-01T00:00:00Z";
  const auto patch = [](std::string_view renewed, const kube::Object& of) {
    const kube::Object beats = lease(renewed);
    const auto kept = plan_kept_heartbeat({.lease = beats, .tenant = of, .now = at(1h), .seen = at(30min)}, 24h);
    return kept ? json::serialize(*kept) : "";
  };
  CHECK(patch(far, tenant()) == R"({"metadata":{"resourceVersion":"7","annotations":{"liqo.io/heartbeat-seen":)"
                                R"("2300-01-01T00:00:00Z 2026-11-21T10:30:00Z"}}})");
  for (std::string_view usual : {"2026-11-21T10:00:00Z", "2026-11-21T20:00:00Z", "yesterday", ""})
    CHECK(patch(usual, tenant()) == "");
  const auto with = [](std::string_view kept) {
    kube::Object made = tenant();
    made.set_annotation(heartbeat_seen, kept);
    return made;
  };
  const kube::Object known = with("2300-01-01T00:00:00Z 2026-11-21T10:30:00Z");
  CHECK(patch(far, known) == "");
  CHECK(kept_heartbeat(known, far, at(1h)) == at(30min));
  CHECK_FALSE(kept_heartbeat(known, "2300-01-01T00:00:01Z", at(1h)));
  CHECK_FALSE(kept_heartbeat(known, "", at(1h)));
  // What is in the future says nothing.
  CHECK_FALSE(kept_heartbeat(known, far, at()));
  for (const char* broken : {"2300-01-01T00:00:00Z", "2300-01-01T00:00:00Z ", "2300-01-01T00:00:00Z soon"})
    CHECK_FALSE(kept_heartbeat(with(broken), far, at(1h)));
}

TEST_CASE("what both sides write of a heartbeat") {
  CHECK(json::serialize(heartbeat_patch("rome", at())) ==
        R"({"spec":{"holderIdentity":"rome","renewTime":"2026-11-21T10:00:00.000000Z"}})");
  const kube::Object made = forge_heartbeat_lease(tenant());
  CHECK(made.key() == kube::ObjectKey{"liqo-tenant-rome", "liqo-heartbeat"});
  CHECK(kube::string_at(made.spec(), {"renewTime"}).empty());
  CHECK(json::serialize(silence_patch(tenant(), "2026-11-21T10:00:00.000000Z")) ==
        R"({"metadata":{"resourceVersion":"7","annotations":{"liqo.io/cordoned-silent-since":)"
        R"("2026-11-21T10:00:00.000000Z"}},"spec":{"tenantCondition":"Cordoned"}})");
}

}  // namespace liqo::core
