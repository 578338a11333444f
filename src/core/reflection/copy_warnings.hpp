// Warnings in a provider's Events about copies of objects, and which of them are reported at home. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core::reflection {

/// One Event of a twin namespace.
struct CopyWarning {
  std::string event;            ///< its UID
  std::uint64_t version = 0;    ///< its resourceVersion
  std::string kind, name, uid;  ///< of the object that it is about
  std::string words;            ///< on one line, of bounded length
  kube::WallTime time;          ///< when it happened last, as the provider says
};

/// The Warnings among a twin's Events that may be about copies: they have a message and the UID of an object that is no
/// pod.
std::vector<CopyWarning> copy_warnings(std::span<const kube::json::value> events);

/// The sentence about it at home.
std::string copy_warning_message(std::string_view provider, const CopyWarning& warning);

/// The warnings of one twin that were reported. An Event is new if its resourceVersion is newer than that of the last
/// look, which needs neither a clock nor a list of all Events. At the first look an Event is new if it happened since a
/// given time.
class CopyWarnings {
 public:
  /// `since`: by the provider's clock.
  explicit CopyWarnings(kube::WallTime since) : since_(since) {}

  /// Whether a warning is to be reported: it is new or has happened again, was not reported in the last minutes, and
  /// there are not too many for its object or twin.
  bool is_news(const CopyWarning& warning, kube::TimePoint now) const;
  /// Notes that the warning was reported.
  void note_reported(const CopyWarning& warning, kube::TimePoint now);
  /// The object of the warning is not known yet, or the warning could not be reported: the next look has to show it
  /// again.
  void postpone(const CopyWarning& warning);
  /// Ends a look in which every Event up to that resourceVersion was considered.
  void looked(std::uint64_t version, kube::TimePoint now);

 private:
  struct Reported {
    std::string object;  ///< UID
    kube::TimePoint at;
  };
  kube::WallTime since_;
  std::optional<std::uint64_t> first_;        ///< version of the first look
  std::uint64_t looked_ = 0;                  ///< what has no newer version has been considered
  std::optional<std::uint64_t> postponed_;    ///< in this look, the oldest
  std::map<std::string, Reported> reported_;  ///< by the UID of the Event, of the last minutes
};

}  // namespace liqo::core::reflection
