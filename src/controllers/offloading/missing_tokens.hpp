// Reports that pods get no token of home although their account has rights there.
// Tested by test/unit/controllers/offloading/pod_tokens_test.cpp.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "controllers/common/context.hpp"
#include "core/offloading/missing_token.hpp"
#include "kube/runtime/informer.hpp"

namespace liqo::controllers {

/// One Event for each namespace and cause, when the first pod of which this is found was sent. It is on that pod if its
/// account is `default`, because the pod can be annotated. Otherwise a setting is the cause, and the Event is on the
/// NamespaceOffloading. One thread.
class MissingTokens {
 public:
  /// The bindings are listed no more often than this: those of a namespace for each of its accounts, and those of the
  /// cluster for all of them. Once an Event was sent they are not listed again for its namespace and cause.
  static constexpr std::chrono::minutes look_interval{10};

  explicit MissingTokens(Context context);

  /// Looks at a pod that was sent. A failure to look is left to the next pod.
  asio::awaitable<void> see(const kube::Object& local, const core::ForgingContext& forging);

 private:
  /// A binding that gives rights to the account, e.g. "RoleBinding flows"; "" = none was found.
  asio::awaitable<std::string> find_binding(kube::ObjectKey account);

  Context context_;
  kube::InformerHandle offloadings_;
  std::map<kube::ObjectKey, kube::TimePoint> looked_at_;           ///< by account
  std::set<std::pair<std::string, core::MissingToken>> reported_;  ///< by namespace
  core::BoundAccounts everywhere_;                                 ///< by ClusterRoleBindings
  std::optional<kube::TimePoint> everywhere_at_;                   ///< when those were listed
};

}  // namespace liqo::controllers
