#include "core/offloading/remote_warning.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "core/common/digest.hpp"
#include "core/offloading/pod_plan.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_reason = 100, max_message = 500;
/// A failing readiness probe warns up to this long before the pod turns unready.
constexpr auto before_not_ready = 1min;
constexpr kube::Duration first_pause = 10s, max_pause = 60s;
/// The most gates that are named.
constexpr std::size_t max_gates = 3;
/// The most different messages of one pod that become Events; the condition has the others.
constexpr std::size_t max_reported = 16;

const json::object* ready_condition(const kube::Object& pod) { return kube::find_condition(pod.status(), "Ready"); }

/// What a kubelet warns of beside the start of a pod, which goes on all the same.
constexpr std::array<std::string_view, 5> notes = {"MissingClusterDNS", "DNSConfigForming", "CheckLimitsForResolvConf",
                                                   "FailedToRetrieveImagePullSecret", "ProbeWarning"};
bool is_note(std::string_view reason) { return std::ranges::find(notes, reason) != notes.end(); }

/// A kubelet's "Error: ImagePullBackOff" repeats the reason for which the container waits.
bool is_echo(std::string_view message) {
  constexpr std::string_view begin = "Error: ";
  return message.starts_with(begin) && !message.substr(begin.size()).contains(' ');
}

/// How much an Event says about why a pod is not ready.
enum class Weight : std::uint8_t { note, echo, cause };
Weight weight_of(const json::value& event) {
  if (is_note(kube::string_at(event, {"reason"}))) return Weight::note;
  return is_echo(kube::string_at(event, {"message"})) ? Weight::echo : Weight::cause;
}

}  // namespace

// Writers of Events set different times, so the latest one counts.
kube::WallTime time_of_event(const json::value& event) {
  const std::array times{kube::string_at(event, {"series", "lastObservedTime"}),
                         kube::string_at(event, {"lastTimestamp"}), kube::string_at(event, {"eventTime"}),
                         kube::string_at(event, {"firstTimestamp"}),
                         kube::string_at(event, {"metadata", "creationTimestamp"})};
  kube::WallTime latest{};
  for (std::string_view text : times)
    if (const auto time = kube::parse_time(text)) latest = std::max(latest, *time);
  return latest;
}

std::string words_of_event(const json::value& event) {
  const std::string reason = kube::one_line(kube::string_at(event, {"reason"}), max_reason);
  const std::string message = kube::one_line(kube::string_at(event, {"message"}), max_message);
  if (reason.empty() || message.empty()) return message.empty() ? reason : message;
  return message + " (" + reason + ")";
}

bool is_settled(const kube::Object& remote) {
  if (remote.is_deleting() || api::is_final_phase(api::phase_of(remote))) return true;
  const json::object* ready = ready_condition(remote);
  return api::phase_of(remote) == "Running" && ready && kube::string_at(*ready, {"status"}) == "True";
}

std::string newest_warning(std::span<const json::value> events, const kube::Object& remote) {
  const bool is_placed = !kube::string_at(remote.spec(), {"nodeName"}).empty(), has_begun = has_started(remote);
  kube::WallTime earliest{};
  if (const json::object* ready = ready_condition(remote))
    if (const auto since = kube::parse_time(kube::string_at(*ready, {"lastTransitionTime"})))
      earliest = *since - before_not_ready;
  // The name decides between Events of the same second, so that the order of a list does not matter.
  std::tuple<Weight, kube::WallTime, std::string_view> best;
  std::string words;
  for (const json::value& event : events) {
    if (kube::string_at(event, {"type"}) != "Warning" ||
        kube::string_at(event, {"involvedObject", "uid"}) != remote.uid())
      continue;
    if (is_placed && kube::string_at(event, {"reason"}) == "FailedScheduling") continue;
    const Weight weight = weight_of(event);
    // Nothing that has not started waits for what a note is about.
    if (weight == Weight::note && !has_begun) continue;
    const kube::WallTime time = time_of_event(event);
    if (time < earliest) continue;
    const std::tuple rank{weight, time, kube::string_at(event, {"metadata", "name"})};
    if (!words.empty() && rank < best) continue;
    std::string said = words_of_event(event);
    if (said.empty()) continue;
    best = rank;
    words = std::move(said);
  }
  return words;
}

std::string gate_words(const kube::Object& remote) {
  const json::array& gates = kube::array_at(remote.spec(), {"schedulingGates"});
  if (gates.empty() || is_settled(remote)) return {};
  std::vector<std::string> names;
  for (const json::value& gate : gates) {
    names.push_back(kube::in_quotes(kube::string_at(gate, {"name"}), max_reason));
    if (names.size() == max_gates) break;
  }
  return (gates.size() == 1 ? "the scheduling gate " : "scheduling gates ") + kube::join(names, ", ") +
         " of that cluster keep" + (gates.size() == 1 ? "s" : "") + " it from every node, until what has set " +
         (gates.size() == 1 ? "it" : "them") + " there takes " + (gates.size() == 1 ? "it" : "them") +
         " off (SchedulingGated)";
}

std::string warning_message(std::string_view provider, std::string_view words) {
  return "the pod is not ready in cluster " + std::string(provider) + ": " + std::string(words);
}

void WarningQuestions::settle() {
  unsettled_since_.reset();
  asked_ = 0;
  words_.reset();
}

void WarningQuestions::see(const kube::Object& remote, kube::TimePoint now) {
  if (std::exchange(remote_uid_, std::string(remote.uid())) != remote.uid()) settle();
  if (is_settled(remote)) return settle();
  if (!unsettled_since_) unsettled_since_ = now;
}

std::optional<kube::TimePoint> WarningQuestions::due(const kube::Object& remote) const {
  if (!unsettled_since_ || remote_uid_ != remote.uid() || is_settled(remote)) return std::nullopt;
  const kube::TimePoint begins = *unsettled_since_ + starting_time;
  if (!asked_at_) return begins;
  const kube::Duration pause = std::min(first_pause * (1 << std::clamp(asked_ - 1, 0, 10)), max_pause);
  return std::max(begins, *asked_at_ + pause);
}

void WarningQuestions::asked(kube::TimePoint now) {
  asked_at_ = now;
  ++asked_;
}

bool WarningQuestions::answered(std::string_view remote_uid, std::string words) {
  if (remote_uid_ != remote_uid || !unsettled_since_ || words_ == words) return false;
  words_ = std::move(words);
  return true;
}

bool WarningQuestions::may_report(std::string_view message) {
  return reported_.size() < max_reported && reported_.insert(digest_hex(message)).second;
}

}  // namespace liqo::core
