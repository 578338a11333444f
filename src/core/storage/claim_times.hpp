// Since when claims of StorageClass liqo wait for what is behind them, and until when something may come late. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "kube/base/time.hpp"

namespace liqo::core::storage {

/// What a process remembers of claims, by their UIDs. After a restart each wait starts again, and the finalizers of
/// claims show which of them are in doubt.
class ClaimTimes {
 public:
  /// How long the claim has waited by `now`; the first call begins the wait.
  kube::Duration waited(std::string_view uid, kube::TimePoint now);
  /// The claim does not wait any more.
  void end_wait(std::string_view uid);

  /// A request that was to make what is behind this claim was sent then, and got no answer: it may be carried out until
  /// `late_after` has passed.
  void doubt(std::string_view uid, kube::TimePoint sent_at);
  /// How long something may still be made behind the claim, without any further request; zero = no more.
  kube::Duration left_of_doubt(std::string_view uid, kube::TimePoint now) const;
  /// Drops the doubts that are over.
  void drop_past_doubts(kube::TimePoint now);

 private:
  std::map<std::string, kube::TimePoint, std::less<>> waiting_since_;   ///< by UID of the claim
  std::map<std::string, kube::TimePoint, std::less<>> in_doubt_until_;  ///< by UID of the claim
};

}  // namespace liqo::core::storage
