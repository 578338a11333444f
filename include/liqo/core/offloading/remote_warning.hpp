// Why a remote pod is not ready, as its provider's Events say: which of them is told at home, and when to ask. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// When an Event happened last; the epoch where it does not say.
kube::WallTime time_of_event(const kube::json::value& event);
/// What an Event says, on one line and of bounded length: "<message> (<reason>)"; "" = nothing.
std::string words_of_event(const kube::json::value& event);

/// Whether there is nothing to ask: the remote pod runs and is Ready, has ended, or is being deleted.
bool is_settled(const kube::Object& remote);

/// The newest Warning about this remote pod among the Events, on one line and of bounded length: "<message>
/// (<reason>)";
/// "" = there is none. Left out are Events of other objects, those of before the pod became not ready, what was wrong
/// before it had a node, and, where another one says more, those that only repeat what its container states show.
std::string newest_warning(const kube::json::array& events, const kube::Object& remote);

/// The sentence about it at home.
std::string warning_message(std::string_view provider, std::string_view words);

/// What is remembered of the questions about one pod. They begin when it has not been settled for `starting_time`, and
/// come with pauses that grow from 10 s to a minute; never more often, whatever becomes of the remote pod meanwhile.
class WarningQuestions {
 public:
  /// Takes what is seen of the remote pod.
  void see(const kube::Object& remote, kube::TimePoint now);
  /// When to ask about this remote pod next; nothing = it is settled, or not the one that was seen.
  std::optional<kube::TimePoint> due(const kube::Object& remote) const;
  void asked(kube::TimePoint now);
  /// Takes what `newest_warning` said of the remote pod with this UID. Whether that is news.
  bool answered(std::string_view remote_uid, std::string words);
  /// What its provider warns of, "" = of nothing; null = nobody has asked.
  const std::string* words() const { return words_ ? &*words_ : nullptr; }
  /// Whether this message is to be told by an Event: once, and of so many as a person reads.
  bool tell(std::string_view message);

 private:
  void settle();

  std::string remote_uid_;
  std::optional<kube::TimePoint> unsettled_since_, asked_at_;
  int asked_ = 0;  ///< since then
  std::optional<std::string> words_;
  std::set<std::string> told_;  ///< digests
};

}  // namespace liqo::core
