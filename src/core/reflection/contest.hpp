// A copy that somebody at the provider overwrites again and again: when it is written, and when it is left to them.
// Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core::reflection {

/// Who has written an object.
struct Overwriter {
  std::string manager;
  std::string time;  ///< as managedFields have it
};

/// The field manager that has written the object since `manager` did, by its managedFields: the newest of several.
/// Nothing: nobody has, or the object does not say so. Writes of a subresource, as status, do not count. `object` is
/// the answer to a get, with its managedFields. A webhook of the provider that changes what we write is no manager.
std::optional<Overwriter> overwriter(const kube::Object& object, std::string_view manager);

/// The memory of one copy, from its first overwriting. Two writers would take turns for ever. After three overwritings
/// in two minutes theirs stays for an hour; then ours is written once more, and one overwriting is enough for the next
/// hour. A change at home does not end that: its new content is written once, and left to them if they overwrite it.
class Contest {
 public:
  static constexpr std::size_t max_overwritings = 3;
  /// The time in which overwritings count together, and between two writes of new content while theirs stays.
  static constexpr std::chrono::minutes window{2};
  static constexpr std::chrono::minutes rest{60};

  /// A copy that is not as it is wanted.
  struct Sight {
    std::string_view wish;        ///< the digest of what is wanted
    bool was_written = false;     ///< the copy says that this wish was written
    bool is_overwritten = false;  ///< somebody has written it since
    std::string_view at = {};     ///< when they have, as a text; each time counts once, "" = not known
  };
  enum class Verdict {
    write,    ///< what is wanted is written
    give_up,  ///< theirs stays from now on, which is to be reported
    leave,    ///< theirs stays
  };
  Verdict judge(const Sight& sight, kube::TimePoint now);
  /// What was to be written was not, as far as is known: that the copy still is as it was is nobody's doing.
  void see_failed() { has_failed_ = true; }
  /// The copy was seen as it is wanted.
  void see_kept() { has_news_ = false; }
  /// How long theirs stays, or until new content may be written; nothing: it is not given up.
  std::optional<kube::Duration> leaves_for(kube::TimePoint now) const;
  /// Whether a copy that was given up is due for a look.
  bool is_due(kube::TimePoint now) const { return leaves_for(now) == kube::Duration::zero(); }
  /// Whether theirs has stayed for the whole time.
  bool has_rested(kube::TimePoint now) const { return given_up_until_ && *given_up_until_ <= now; }
  /// Whether it may be forgotten, because nothing has happened for long enough.
  bool is_over(kube::TimePoint now) const;

 private:
  std::string wish_;                           ///< what was written last over a copy that somebody had overwritten
  std::vector<kube::TimePoint> overwritings_;  ///< of the last two minutes
  kube::TimePoint last_{};                     ///< when the copy was written or left last
  std::optional<kube::TimePoint> given_up_until_;
  bool was_given_up_ = false;  ///< before: one overwriting is enough
  bool has_news_ = false;      ///< home has new content that waits
  bool has_failed_ = false;    ///< the last write has
  std::string counted_;        ///< the time of the overwriting that was counted last
};

}  // namespace liqo::core::reflection
