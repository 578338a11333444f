// What the Events of a provider warn of about copies of objects of home, and which of it is told there. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// One Event of a twin namespace.
struct CopyWarning {
  std::string event;            ///< its UID
  std::uint64_t version = 0;    ///< its resourceVersion
  std::string kind, name, uid;  ///< of the object that it is about
  std::string words;            ///< on one line, of bounded length
  kube::WallTime time;          ///< when it happened last, as the provider says
};

/// The Warnings among Events of a twin that may be about copies: those with a message that name an object by its UID,
/// and no pod.
std::vector<CopyWarning> copy_warnings(const kube::json::array& events);

/// The sentence about it at home.
std::string copy_warning_message(std::string_view provider, const CopyWarning& warning);

/// What was told of one twin. What is new since the last look is known by the versions of the Events, which needs
/// neither a clock nor a list of what was seen; at the first look an Event is new that happened since a given time.
class CopyWarnings {
 public:
  /// `since`: by the provider's clock.
  explicit CopyWarnings(kube::WallTime since) : since_(since) {}

  /// Whether it is to be told: it is new or has happened again, has not been told in the last minutes, and there are
  /// not too many of its object or twin.
  bool is_news(const CopyWarning& warning, kube::TimePoint now) const;
  void told(const CopyWarning& warning, kube::TimePoint now);
  /// It is not known yet what it is about, or it could not be told: the next look has to show it again.
  void postpone(const CopyWarning& warning);
  /// Ends a look at a state of that version, of which all was considered.
  void looked(std::uint64_t version, kube::TimePoint now);

 private:
  struct Told {
    std::string object;  ///< UID
    kube::TimePoint at;
  };
  kube::WallTime since_;
  std::optional<std::uint64_t> first_;      ///< version of the first look
  std::uint64_t looked_ = 0;                ///< what has no newer version has been considered
  std::optional<std::uint64_t> postponed_;  ///< in this look, the oldest
  std::map<std::string, Told> told_;        ///< by the UID of the Event, of the last minutes
};

}  // namespace liqo::core
