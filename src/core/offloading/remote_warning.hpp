// Why a remote pod is not ready, by its provider's Events: which Event is reported at home, and when to ask for them.
// Pure.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// When an Event happened last; the epoch if it does not say.
kube::WallTime time_of_event(const kube::json::value& event);
/// What an Event says, on one line and of bounded length: "<message> (<reason>)"; "" = nothing.
std::string words_of_event(const kube::json::value& event);

/// Whether there is no need to ask: the remote pod runs and is Ready, has ended, or is being deleted.
bool is_settled(const kube::Object& remote);

/// The newest Warning about this remote pod among the Events, as words_of_event(); "" = there is none. Ignored are
/// Events about other objects, Events from before the pod became not ready, failures of its scheduling once it has a
/// node, and, if another Event says more, those that only repeat its container states. What a kubelet notes beside
/// a start (such as MissingClusterDNS) is reported last, and only of a pod that has started.
std::string newest_warning(std::span<const kube::json::value> events, const kube::Object& remote);

/// Why a remote pod is not scheduled that has scheduling gates, with their names, bounded; "" = it has none. Gates of a
/// pod at home are open before it is sent, so these are the provider's.
std::string gate_words(const kube::Object& remote);

/// The sentence about it at home.
std::string warning_message(std::string_view provider, std::string_view words);

/// When Events about one pod are asked for, and what came of it. The questions begin when the remote pod has not been
/// settled for `starting_time`, with pauses that grow from 10 s to a minute, and never come more often, even if the
/// remote pod is replaced.
class WarningQuestions {
 public:
  /// Takes the present state of the remote pod.
  void see(const kube::Object& remote, kube::TimePoint now);
  /// When to ask about this remote pod next; nothing = it is settled, or not the one that was seen.
  std::optional<kube::TimePoint> due(const kube::Object& remote) const;
  void asked(kube::TimePoint now);
  /// Takes the result of `newest_warning` about the remote pod with this UID. Returns whether it has changed.
  bool answered(std::string_view remote_uid, std::string words);
  /// The provider's warning; "" = none; null = not asked yet.
  const std::string* words() const { return words_ ? &*words_ : nullptr; }
  /// Whether an Event is due for this message: each message has one, up to a number that a person can read.
  bool may_report(std::string_view message);

 private:
  void settle();

  std::string remote_uid_;
  std::optional<kube::TimePoint> unsettled_since_, asked_at_;
  int asked_ = 0;  ///< since then
  std::optional<std::string> words_;
  std::set<std::string> reported_;  ///< digests
};

}  // namespace liqo::core
