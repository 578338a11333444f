// Which Event of a remote pod is reported at home, in what words, and when the provider is asked.
#include "core/offloading/remote_warning.hpp"

#include "../objects.hpp"
#include "core/offloading/pod_plan.hpp"
#include "core/offloading/pod_status.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using namespace std::chrono_literals;

kube::Object remote(std::string_view status, std::string_view uid = "r1") {
  return reflected("Pod", uid, "u1", status);
}
const char* const pending = R"({"phase": "Pending"})";
const char* const not_ready = R"({"phase": "Running", "conditions": [
  {"type": "Ready", "status": "False", "lastTransitionTime": "2026-11-21T10:00:00Z"}]})";
const char* const ready = R"({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})";

/// The fields of an Event about pod "r1" that matter, the others as in a Warning of 10:00.
json::object event(std::string_view fields) {
  json::object made = parse_value(R"({"metadata": {"name": "web.1"}, "type": "Warning", "reason": "FailedMount",
    "message": "secret \"s\" not found", "lastTimestamp": "2026-11-21T10:00:00Z", "involvedObject": {"uid": "r1"}})")
                          .as_object();
  for (const auto& [key, value] : parse_value(fields).as_object()) made[key] = value;
  return made;
}

}  // namespace

TEST_CASE("nothing is asked about a pod that is ready, has ended, or ends") {
  CHECK_FALSE(is_settled(remote("{}")));
  CHECK_FALSE(is_settled(remote(pending)));
  CHECK_FALSE(is_settled(remote(R"({"phase": "Running"})")));
  CHECK_FALSE(is_settled(remote(not_ready)));
  // It says so of a pod whose node is silent.
  CHECK_FALSE(is_settled(remote(R"({"phase": "Unknown", "conditions": [{"type": "Ready", "status": "True"}]})")));
  CHECK(is_settled(remote(ready)));
  CHECK(is_settled(remote(R"({"phase": "Succeeded"})")));
  CHECK(is_settled(remote(R"({"phase": "Failed"})")));
  CHECK(is_settled(reflected("Pod", "r1", "u1", pending, true)));
}

TEST_CASE("a pod that the provider has gated says so, with the names of the gates") {
  const auto gated = [](std::string_view gates, std::string_view status = pending) {
    kube::Object pod = remote(status);
    pod.mutable_spec()["schedulingGates"] = parse_value(gates);
    return gate_words(pod);
  };
  CHECK(gate_words(remote(pending)) == "");
  CHECK(gated("[]") == "");
  CHECK(warning_message("milan", gated(R"([{"name": "kueue.x-k8s.io/admission"}])")) ==
        "the pod is not ready in cluster milan: the scheduling gate \"kueue.x-k8s.io/admission\" of that cluster keeps "
        "it "
        "from every node, until what has set it there takes it off (SchedulingGated)");
  const std::string many = gated(R"([{"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "d"}])");
  CHECK(many.contains("\"c\""));
  CHECK_FALSE(many.contains("\"d\""));
  CHECK(gated(R"([{"name": ")" + std::string(5'000, 'x') + R"("}])").size() < 300);
  CHECK(gated(R"([7, {"other": 1}])").size() < 300);
  CHECK(gated(R"([{"name": "a"}])", ready) == "");
}

TEST_CASE("the newest warning about the pod is told") {
  const std::string mount = "secret \"s\" not found (FailedMount)";
  struct {
    const char* what;
    std::vector<const char*> events;
    std::string expected;
  } cases[] = {
      {"none", {}, ""},
      {"one", {"{}"}, mount},
      {"what is no Warning", {R"({"type": "Normal"})"}, ""},
      {"another pod's", {R"({"involvedObject": {"uid": "r2"}})", R"({"involvedObject": {"name": "web"}})"}, ""},
      {"the newest, wherever it stands",
       {R"({"reason": "Later", "lastTimestamp": "2026-11-21T10:00:09Z"})", "{}"},
       "secret \"s\" not found (Later)"},
      {"times of the scheduler's kind",
       {"{}", R"({"reason": "Later", "lastTimestamp": null, "eventTime": "2026-11-21T10:00:01.000000Z"})"},
       "secret \"s\" not found (Later)"},
      {"times of a series",
       {R"({"reason": "Series", "lastTimestamp": null, "eventTime": "2026-11-21T09:00:00.000000Z",
            "series": {"count": 9, "lastObservedTime": "2026-11-21T10:01:00.000000Z"}})",
        R"({"lastTimestamp": "2026-11-21T10:00:59Z"})"},
       "secret \"s\" not found (Series)"},
      {"no time but that of the object",
       {"{}", R"({"reason": "Later", "lastTimestamp": null,
                  "metadata": {"name": "a", "creationTimestamp": "2026-11-21T10:00:01Z"}})"},
       "secret \"s\" not found (Later)"},
      {"of the same second, in whatever order",
       {R"({"metadata": {"name": "web.3"}, "reason": "Third"})", R"({"metadata": {"name": "web.2"}})"},
       "secret \"s\" not found (Third)"},
      {"of the same second, the other way round",
       {R"({"metadata": {"name": "web.2"}})", R"({"metadata": {"name": "web.3"}, "reason": "Third"})"},
       "secret \"s\" not found (Third)"},
      {"what says more than the state of the container",
       {R"({"reason": "Failed", "message": "Failed to pull image \"shop:2\": not found"})",
        R"({"reason": "Failed", "message": "Error: ImagePullBackOff", "lastTimestamp": "2026-11-21T10:00:09Z"})"},
       "Failed to pull image \"shop:2\": not found (Failed)"},
      {"the state, where nothing says more",
       {R"({"reason": "Failed", "message": "Error: ImagePullBackOff"})"},
       "Error: ImagePullBackOff (Failed)"},
      {"an error in words",
       {R"({"reason": "Failed", "message": "Error: secret \"s\" not found"})"},
       "Error: secret \"s\" not found (Failed)"},
      {"a reason alone", {R"({"message": null})"}, "FailedMount"},
      {"a message alone", {R"({"reason": 7})"}, "secret \"s\" not found"},
      {"nothing at all", {"{}", R"({"reason": "", "message": "\n", "lastTimestamp": "2026-11-21T11:00:00Z"})"}, mount},
      {"on one line", {R"({"message": "a\n\u001b[2Jb\u202ec"})"}, "a [2Jb c (FailedMount)"},
  };
  for (const auto& each : cases) {
    INFO(each.what);
    json::array events{7, nullptr, json::array{}};
    for (const char* fields : each.events) events.push_back(event(fields));
    CHECK(newest_warning(events, remote(pending)) == each.expected);
  }
}

TEST_CASE("what was wrong before is not told as what is wrong now") {
  const json::array scheduling{event(R"({"reason": "FailedScheduling", "message": "0/3 nodes are available"})")};
  kube::Object pod = remote(pending);
  CHECK(newest_warning(scheduling, pod) == "0/3 nodes are available (FailedScheduling)");
  pod.mutable_spec()["nodeName"] = "worker";
  CHECK(newest_warning(scheduling, pod).empty());
  // A probe warns before the pod is not ready.
  const auto at_time = [](const char* time) {
    json::object made = event("{}");
    made["lastTimestamp"] = time;
    return json::array{made};
  };
  CHECK_FALSE(newest_warning(at_time("2026-11-21T09:59:30Z"), remote(not_ready)).empty());
  CHECK(newest_warning(at_time("2026-11-21T09:58:30Z"), remote(not_ready)).empty());
  CHECK_FALSE(newest_warning(at_time("2026-11-21T09:58:30Z"), remote(pending)).empty());
}

TEST_CASE("what a kubelet notes beside the start of a pod is not told as what the pod waits for") {
  const auto at_time = [](const char* reason, const char* message, const char* time) {
    json::object made = event("{}");
    made["reason"] = reason;
    made["message"] = message;
    made["lastTimestamp"] = time;
    return made;
  };
  const json::object failed = at_time("Failed", "Failed to pull image \"shop:2\": not found", "2026-11-21T10:00:00Z"),
                     echo = at_time("Failed", "Error: ErrImagePull", "2026-11-21T10:00:02Z"),
                     note = at_time("MissingClusterDNS", "no ClusterDNS IP", "2026-11-21T10:00:09Z");
  const std::string cause = "Failed to pull image \"shop:2\": not found (Failed)";
  CHECK(newest_warning(json::array{failed, note}, remote(pending)) == cause);
  CHECK(newest_warning(json::array{note, failed, echo}, remote(not_ready)) == cause);
  CHECK(newest_warning(json::array{note, echo}, remote(not_ready)) == "Error: ErrImagePull (Failed)");
  CHECK(newest_warning(json::array{note}, remote(pending)).empty());
  CHECK(newest_warning(json::array{note}, remote(not_ready)) == "no ClusterDNS IP (MissingClusterDNS)");
}

TEST_CASE("what a provider writes is cut") {
  json::object endless = event("{}");
  endless["reason"] = std::string(100'000, 'r');
  endless["message"] = std::string(100'000, 'm');
  const std::string words = newest_warning(json::array{endless}, remote(pending));
  CHECK(words.size() > 500);
  CHECK(words.size() < 700);
  CHECK(warning_message("milan", "no such image (Failed)") ==
        "the pod is not ready in cluster milan: no such image (Failed)");
}

TEST_CASE("the provider is asked after a while, and then less and less often") {
  const kube::TimePoint start{1h};
  const auto seconds = [&](std::optional<kube::TimePoint> time) {
    return time ? std::chrono::duration_cast<std::chrono::seconds>(*time - start).count() : -1;
  };
  const kube::Object waiting = remote(pending), runs = remote(ready), other = remote(pending, "r2");
  WarningQuestions questions;
  CHECK(seconds(questions.due(waiting)) == -1);
  questions.see(waiting, start);
  questions.see(waiting, start + 5s);
  CHECK(seconds(questions.due(waiting)) == 10);
  CHECK(seconds(questions.due(other)) == -1);
  CHECK(seconds(questions.due(runs)) == -1);
  std::vector<std::int64_t> times;
  for (int i = 0; i < 6; ++i) {
    const auto due = questions.due(waiting);
    REQUIRE(due);
    times.push_back(seconds(due));
    questions.asked(*due);
  }
  CHECK(times == std::vector<std::int64_t>{10, 20, 40, 80, 140, 200});
  // It runs, and then no longer: it is new trouble, yet not asked about within 10 s.
  questions.see(runs, start + 199s);
  CHECK(seconds(questions.due(runs)) == -1);
  questions.see(waiting, start + 199s);
  CHECK(seconds(questions.due(waiting)) == 210);
  questions.see(waiting, start + 220s);
  questions.see(other, start + 220s);
  CHECK(seconds(questions.due(waiting)) == -1);
  CHECK(seconds(questions.due(other)) == 230);
}

TEST_CASE("an answer counts for the pod that was asked about, while it waits") {
  WarningQuestions questions;
  CHECK_FALSE(questions.answered("r1", "a"));
  questions.see(remote(pending), {});
  CHECK(questions.words() == nullptr);
  CHECK_FALSE(questions.answered("r2", "a"));
  CHECK(questions.answered("r1", ""));
  CHECK(questions.answered("r1", "a"));
  CHECK_FALSE(questions.answered("r1", "a"));
  REQUIRE(questions.words());
  CHECK(*questions.words() == "a");
  questions.see(remote(pending, "r2"), {});
  CHECK(questions.words() == nullptr);
  CHECK(questions.answered("r2", "b"));
  questions.see(remote(ready, "r2"), {});
  CHECK(questions.words() == nullptr);
  CHECK_FALSE(questions.answered("r2", "b"));
}

TEST_CASE("each warning is told once, and of many different ones only some") {
  WarningQuestions questions;
  CHECK(questions.may_report("a"));
  CHECK_FALSE(questions.may_report("a"));
  CHECK(questions.may_report("b"));
  CHECK_FALSE(questions.may_report("a"));
  int told = 0;
  for (int i = 0; i < 1000; ++i) told += questions.may_report(std::to_string(i));
  CHECK(told == 14);
}

TEST_CASE("the warning stands in one condition at home while the pod is not ready") {
  const std::string words = "no such image (Failed)", nothing;
  const auto shown = [](const kube::Object& local, const kube::Object& pod, const std::string* warning) {
    const StatusContext ctx{.provider = "milan", .warning = warning};
    return std::string(reported_warning(forge_local_status({.local = local, .remote = &pod}, ctx, at())->status));
  };
  const std::string told = "the pod is not ready in cluster milan: no such image (Failed)";
  kube::Object local = local_pod(pending);
  CHECK(shown(local, remote(pending), nullptr).empty());
  CHECK(shown(local, remote(pending), &nothing).empty());
  CHECK(shown(local, remote(pending), &words) == told);
  CHECK(shown(local, remote(not_ready), &words) == told);
  CHECK(shown(local, remote(ready), &words).empty());

  // It is there, and written no second time; nobody knows better until the provider has been asked again.
  const kube::Object pod = remote(pending);
  const StatusContext ctx{.provider = "milan", .warning = &words};
  const auto wanted = forge_local_status({.local = local, .remote = &pod}, ctx, at());
  local.mutable_status() = wanted->status;
  for (const auto& [key, value] : wanted->annotations) local.set_annotation(key, value.as_string());
  for (const auto& [key, value] : wanted->labels) local.set_label(key, value.as_string());
  CHECK_FALSE(status_patch(local, *forge_local_status({.local = local, .remote = &pod}, ctx, at(9s))));
  const StatusContext restarted{.provider = "milan"};
  CHECK_FALSE(status_patch(local, *forge_local_status({.local = local, .remote = &pod}, restarted, at(9s))));
  CHECK(shown(local, pod, &nothing).empty());
  CHECK(shown(local, remote(ready), nullptr).empty());
  CHECK(shown(local, remote(pending, "r2"), nullptr).empty());
  // A refusal that stood there is over once its pod exists: nothing keeps it.
  kube::Object refused = local_pod(pending);
  refused.set_annotation("offloading.liqo.io/remote-pod-uid", "r1");
  refused.mutable_status() = forge_refusal(refused, "OffloadingRefused", "no room", at()).status;
  CHECK(forge_local_status({.local = refused, .remote = &pod}, restarted, at())
            ->status.at("conditions")
            .as_array()
            .empty());
}

}  // namespace liqo::core
