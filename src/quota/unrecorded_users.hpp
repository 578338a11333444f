// Waits until the cache of ShadowPods has caught up with the stored ones of users without a record.
// Tested by test/unit/quota/quota_settle_test.cpp.
#pragma once

#include <memory>

#include "quota/desk_context.hpp"
#include "quota/shared_round.hpp"

namespace liqo::quota {

/// Lists all ShadowPods if UnrecordedVersions does not know how new the cache has to be. One thread.
class UnrecordedUsers {
 public:
  /// `context` outlives this.
  explicit UnrecordedUsers(DeskContext& context) : context_(context) {}

  /// Waits until the cache has the stored ShadowPods of users without a record. Errors: those of the API server, and
  /// Errc::timeout if the cache is behind, or records are removed all the time.
  asio::awaitable<kube::Result<void>> see();

 private:
  /// Finds out how new the cache has to be; callers that come meanwhile wait for it.
  asio::awaitable<kube::Result<void>> list();
  bool is_known() const { return context_.unrecorded.is_known(context_.records->lists()); }

  DeskContext& context_;
  std::shared_ptr<SharedRound> listing_;  ///< the last list()
};

}  // namespace liqo::quota
