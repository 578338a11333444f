// Which pods of consumers are let go when their node does not answer any more, and when.
#include "core/nodes/node_failure.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using namespace std::chrono_literals;

kube::Object node(std::string_view ready) {
  return parse(R"({"kind": "Node", "metadata": {"name": "worker"}, "status": {"conditions": [
    {"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": ")" +
               std::string(ready) + R"("}]}})");
}

/// A pod that is to be gone at 10:00:00, with that grace time.
kube::Object ending(std::int64_t grace) {
  kube::Object pod = reflected("Pod", "p1", "u1", R"({"phase": "Running"})");
  pod.mutable_metadata()["deletionTimestamp"] = kube::format_time(at(std::chrono::seconds(grace)));
  pod.mutable_metadata()["deletionGracePeriodSeconds"] = grace;
  return pod;
}

}  // namespace

TEST_CASE("what does not end on a node that is not Ready is deleted by force after its grace time") {
  const kube::Object alive = reflected("Pod", "p1", "u1", R"({"phase": "Running"})");
  const kube::Object ready = node("True"), silent = node("Unknown"), broken = node("False");
  const kube::Object bare = parse(R"({"kind": "Node", "metadata": {"name": "worker"}})");
  struct Case {
    const char* title;
    const kube::Object pod;
    const kube::Object* node;
    std::chrono::seconds later;
    std::optional<kube::Duration> expected;
  };
  for (const Case& c :
       {Case{"not being deleted", alive, &silent, 1h, std::nullopt},
        Case{"its node is Ready", ending(30), &ready, 1h, {}}, Case{"its node is gone", ending(30), nullptr, 1h, {}},
        Case{"in its grace time", ending(30), &silent, 10s, 20s}, Case{"after it", ending(30), &silent, 30s, 0s},
        Case{"long after it", ending(30), &broken, 1h, 0s},
        Case{"a node that never reported", ending(30), &bare, 1h, 0s},
        Case{"deleted by force already", ending(0), &silent, 1h, {}}}) {
    CAPTURE(c.title);
    CHECK(force_delete_in(c.pod, c.node, at(c.later)) == c.expected);
  }
  kube::Object nonsense = ending(30);
  nonsense.mutable_metadata()["deletionTimestamp"] = "soon";
  CHECK_FALSE(force_delete_in(nonsense, &silent, at(1h)));
  nonsense.mutable_metadata()["deletionTimestamp"] = "0001-01-01T00:00:00Z";
  CHECK(force_delete_in(nonsense, &silent, at(1h)) == 0s);
  nonsense.mutable_metadata()["deletionTimestamp"] = "9999-12-31T23:59:60Z";
  CHECK(*force_delete_in(nonsense, &silent, at(1h)) > std::chrono::years(150));
}

}  // namespace liqo::core
