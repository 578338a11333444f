// When a pod asks again after its provider has refused an order or a resize.
#include "core/offloading/refused_pod.hpp"

#include <optional>
#include <string>

#include "../objects.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using namespace std::chrono_literals;
using Pause = RefusedPod::Pause;
using Room = RefusedPod::Room;

constexpr kube::TimePoint begin{};

kube::Failure refusal(int code, std::string message) {
  kube::Status status;
  status.code = code;
  status.message = std::move(message);
  return kube::Failure::from_status(std::move(status));
}

}  // namespace

TEST_CASE("a refused order waits, the same order longer each time, and a changed one does not") {
  RefusedPod pod;
  CHECK_FALSE(pod.wait("a", false, begin).has_value());
  struct Case {
    int refusals;
    kube::Duration pause;
  };
  int refusals = 0;
  for (const Case& c : std::initializer_list<Case>{{1, 1s}, {2, 2s}, {3, 4s}, {6, 32s}, {7, 60s}, {40, 60s}}) {
    CAPTURE(c.refusals);
    for (; refusals < c.refusals; ++refusals) pod.refused("a", begin);
    CHECK(pod.wait("a", false, begin) == Pause{.least = c.pause});
    CHECK(pod.wait("a", false, begin + c.pause - 1ms) == Pause{.least = 1ms});
    CHECK_FALSE(pod.wait("a", false, begin + c.pause).has_value());
    CHECK_FALSE(pod.wait("b", false, begin).has_value());
  }
}

TEST_CASE("a pod that waits for another one of its demand asks after an hour, and not all of them at once") {
  RefusedPod pod;
  pod.refused("a", begin);
  CHECK(pod.wait("a", true, begin) == Pause{.least = 1h, .spread = 30min});
  CHECK(pod.wait("a", true, begin + 59min) == Pause{.least = 1min, .spread = 30min});
  CHECK_FALSE(pod.wait("a", true, begin + 1h).has_value());
  CHECK_FALSE(pod.wait("b", true, begin).has_value());
}

TEST_CASE("who is woken asks at once and remembers its refusals; who is taken forgets them") {
  RefusedPod pod;
  pod.refused("a", begin);
  CHECK(pod.refused_at() == begin);
  pod.ask_again();
  CHECK_FALSE(pod.refused_at().has_value());
  CHECK_FALSE(pod.wait("a", false, begin).has_value());
  pod.refused("a", begin + 1s);
  CHECK(pod.wait("a", false, begin + 1s) == Pause{.least = 2s});
  pod.taken();
  CHECK_FALSE(pod.refused_at().has_value());
  pod.refused("a", begin + 2s);
  CHECK(pod.wait("a", false, begin + 2s) == Pause{.least = 1s});
}

TEST_CASE("an answer tells whether there is room") {
  const kube::Failure full = refusal(403, "quota a/b has not enough cpu: asked 1, free 0"),
                      invalid = refusal(422, "spec.pod: invalid"),
                      rightless = refusal(403, "user cannot create resource \"shadowpods\" in API group"),
                      busy = refusal(503, "quota a/b has not enough cpu: asked 1, free 0"),
                      broken(kube::Errc::timeout, "no answer");
  struct Step {
    const char* title;
    const kube::Failure* answer;
    kube::Duration at;
    Room room;
  };
  RefusedPod pod;
  for (const Step& step :
       std::initializer_list<Step>{{"no room", &full, 0s, Room::lacking},
                                   {"taken", nullptr, 1s, Room::there},
                                   {"wrong in itself", &invalid, 2s, Room::there},
                                   {"no rights", &rightless, 10s, Room::there},
                                   {"not for long", &rightless, 69s, Room::there},
                                   {"the server is busy", &busy, 69s, Room::unknown},
                                   {"the line breaks", &broken, 69s, Room::unknown},
                                   {"no rights for a minute", &rightless, 70s, Room::lacking},
                                   {"they are back", nullptr, 80s, Room::there},
                                   {"and gone again", &rightless, 150s, Room::there},
                                   {"another refusal between them", &invalid, 160s, Room::there},
                                   {"from then on they are missing anew", &rightless, 215s, Room::there},
                                   {"for a minute", &rightless, 275s, Room::lacking}}) {
    CAPTURE(step.title);
    CHECK(pod.see_answer(step.answer, begin + step.at) == step.room);
  }
}

TEST_CASE("a refused resize stands for a while, its words are news once, and other amounts are asked for") {
  RefusedPod pod;
  CHECK(pod.standing_resize("1f", begin) == nullptr);
  CHECK_FALSE(pod.resize_left(begin).has_value());
  CHECK(pod.resize_refused("1f", {.words = "used: 4", .may_pass = true}, begin));
  REQUIRE(pod.standing_resize("1f", begin + 29s));
  CHECK(pod.standing_resize("1f", begin + 29s)->words == "used: 4");
  CHECK(pod.standing_resize("1f", begin + 29s)->may_pass);
  CHECK(pod.standing_resize("2e", begin + 29s) == nullptr);
  CHECK(pod.resize_left(begin + 29s) == 1s);
  CHECK(pod.standing_resize("1f", begin + 30s) == nullptr);
  // The same amounts are refused in other words.
  CHECK_FALSE(pod.resize_refused("1f", {.words = "used: 5"}, begin + 30s));
  CHECK(pod.standing_resize("1f", begin + 31s)->words == "used: 5");
  CHECK(pod.resize_refused("2e", {.words = "used: 5"}, begin + 31s));
  // There may be room.
  pod.ask_resize_again();
  CHECK(pod.standing_resize("2e", begin + 32s) == nullptr);
  CHECK_FALSE(pod.resize_refused("2e", {.words = "used: 6"}, begin + 32s));
  pod.resize_kept();
  CHECK(pod.standing_resize("2e", begin + 32s) == nullptr);
  CHECK_FALSE(pod.resize_left(begin + 32s).has_value());
  CHECK(pod.resize_refused("2e", {.words = "used: 6"}, begin + 40s));
}

TEST_CASE("a resize that was taken is seen to be completed once") {
  kube::Object shadow = reflected("ShadowPod", "s1", "u1"), remote = reflected("Pod", "r1", "u1");
  shadow.tree()["apiVersion"] = "offloading.liqo.io/v1beta1";
  shadow.mutable_metadata()["generation"] = 2;
  shadow.mutable_spec()["pod"] = parse_value(R"({"containers": [{"name": "main", "image": "img:v1"}]})");
  const kube::Object before = remote;
  remote.set_annotation(api::annotations::applied_resources, applied_note(shadow));
  RefusedPod pod;
  CHECK_FALSE(pod.see_resized(shadow, remote));
  CHECK(pod.resize_refused("1f", {.words = "used: 4"}, begin));
  pod.resize_taken();
  CHECK_FALSE(pod.resize_left(begin).has_value());
  CHECK_FALSE(pod.see_resized(shadow, before));
  CHECK(pod.see_resized(shadow, remote));
  CHECK_FALSE(pod.see_resized(shadow, remote));
}

}  // namespace liqo::core
