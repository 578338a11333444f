// Reports that pods of the account `default` get no token although the account has rights.
// Tested by test/unit/controllers/offloading/pod_tokens_test.cpp.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>

#include "controllers/common/context.hpp"
#include "core/common/forging_context.hpp"

namespace liqo::controllers {

/// One Event for each namespace, on the first pod of which this is found. One thread.
class DefaultAccounts {
 public:
  /// The RoleBindings of a namespace are listed no more often than this, and not again once the Event was sent.
  static constexpr std::chrono::minutes look_interval{10};

  explicit DefaultAccounts(Context context) : context_(context) {}

  /// Looks at a pod that was sent. A failure to look is left to the next pod.
  asio::awaitable<void> see(const kube::Object& local, const core::ForgingContext& forging);

 private:
  Context context_;
  std::map<std::string, kube::TimePoint, std::less<>> looked_at_;  ///< by namespace
  std::set<std::string, std::less<>> reported_;                    ///< namespaces
};

}  // namespace liqo::controllers
