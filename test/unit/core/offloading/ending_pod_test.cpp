// The end of a remote pod, as far as it is remembered for the pod at home.
#include "core/offloading/ending_pod.hpp"

#include <optional>
#include <string>

#include "../objects.hpp"
#include "core/offloading/ending.hpp"
#include "core/offloading/pod_plan.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using namespace std::chrono_literals;

constexpr kube::TimePoint begin{};

kube::Object remote(std::string_view uid, bool deleting, std::string_view phase = "Running") {
  kube::Object pod = reflected("Pod", uid, "u1", R"({"phase": ")" + std::string(phase) + R"("})", deleting);
  pod.mutable_spec()["nodeName"] = "worker";
  if (deleting) pod.mutable_metadata()["deletionGracePeriodSeconds"] = 30;
  return pod;
}

}  // namespace

TEST_CASE("an end lasts from when it was first seen, and each remote pod has its own") {
  struct Step {
    const char* title;
    std::optional<kube::Object> seen;
    kube::Duration at, lasts;
  };
  EndingPod ending;
  for (const Step& step : std::initializer_list<Step>{{"it runs", remote("r1", false), 0s, 0s},
                                                      {"it is deleted", remote("r1", true), 10s, 0s},
                                                      {"it takes its time", remote("r1", true), 25s, 15s},
                                                      {"another one is deleted", remote("r2", true), 30s, 0s},
                                                      {"that takes its time", remote("r2", true), 31s, 1s},
                                                      {"nothing is there", std::nullopt, 40s, 0s},
                                                      {"it is there again", remote("r2", true), 50s, 0s}}) {
    CAPTURE(step.title);
    ending.see(step.seen ? &*step.seen : nullptr, begin + step.at);
    CHECK(ending.lasts() == step.lasts);
  }
}

TEST_CASE("an end is waited for while the pod at home stays") {
  const kube::Object stays = local_pod(R"({"phase": "Running"})"),
                     goes = local_pod("{}", "{}", R"({"deletionTimestamp": "2026-11-21T09:59:00Z"})"),
                     runs = remote("r1", false), ends = remote("r1", true);
  EndingPod ending;
  ending.see(&ends, begin);
  ending.see(&ends, begin + 20s);
  CHECK(ending.left(stays, ends) == 30s + ending_patience - 20s);
  CHECK_FALSE(ending.left(goes, ends).has_value());
  CHECK_FALSE(ending.left(stays, runs).has_value());
  ending.see(&ends, begin + 1h);
  CHECK(*ending.left(stays, ends) < 0s);
}

TEST_CASE("a grace time that a provider does not follow is given up, and another one is told anew") {
  struct Step {
    const char* title;
    std::int64_t seconds;
    kube::Duration at, left;
    std::optional<std::int64_t> given_up;
  };
  EndingPod ending;
  for (const Step& step : std::initializer_list<Step>{{"told", 1, 0s, grace_patience, {}},
                                                      {"still running", 1, 1s, grace_patience - 1s, {}},
                                                      {"still running at the end", 1, grace_patience, 0s, 1},
                                                      {"and later", 1, 1min, 0s, 1},
                                                      {"another time is told", 5, 1min, grace_patience, 1},
                                                      {"and not followed either", 5, 1min + grace_patience, 0s, 5}}) {
    CAPTURE(step.title);
    CHECK(ending.await_begin(step.seconds, begin + step.at) == step.left);
    CHECK(ending.given_up() == step.given_up);
  }
  ending.give_up(9);
  CHECK(ending.given_up() == 9);
}

TEST_CASE("of a remote pod that is gone its end is remembered, and nothing else") {
  struct Case {
    const char* title;
    kube::Object last;
    bool is_gone, is_kept;
  };
  kube::Object large = remote("r1", true, "Succeeded");
  large.set_annotation("example.org/large", std::string(EndingPod::max_last, 'x'));
  for (const Case& c : std::initializer_list<Case>{{"ended and gone", remote("r1", true, "Succeeded"), true, true},
                                                   {"ended and there", remote("r1", true, "Succeeded"), false, false},
                                                   {"gone while it ran", remote("r1", true), true, false},
                                                   {"too large", large, true, false}}) {
    CAPTURE(c.title);
    EndingPod ending;
    ending.see_change(c.last, c.is_gone);
    CHECK(ending.last().has_value() == c.is_kept);
    if (c.is_kept) CHECK(ending.last()->uid() == "r1");
    // A successor that is there is what counts.
    ending.see_change(remote("r2", false), false);
    CHECK_FALSE(ending.last().has_value());
  }
}

TEST_CASE("whether a final phase is needed is what was seen last") {
  EndingPod ending;
  CHECK_FALSE(ending.needs_phase());
  ending.see_local(true);
  CHECK(ending.needs_phase());
  ending.see_local(false);
  CHECK_FALSE(ending.needs_phase());
}

}  // namespace liqo::core
