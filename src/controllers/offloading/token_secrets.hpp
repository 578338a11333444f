// The Secrets at home whose service-account tokens are not copied, and the pods that wait for them.
// Tested by test/unit/controllers/offloading/token_secrets_test.cpp.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>

#include "controllers/common/context.hpp"

namespace liqo::controllers {

/// Lists the Secrets of type service-account-token of a namespace when a pod that needs a Secret is to be sent: there
/// is no watch of Secrets. One thread.
class TokenSecrets {
 public:
  /// For so long a list counts as new.
  static constexpr std::chrono::seconds known_for{3};

  /// `provider` outlives it.
  TokenSecrets(Context context, kube::Api& provider) : context_(context), provider_(provider) {}

  /// Why the pod is not sent, a clause; "" = it may be sent, also if home does not let this process look. It is not
  /// sent if a Secret that it needs holds a token that is not copied. A Secret of that name by others in the twin will
  /// do.
  asio::awaitable<kube::Result<std::string>> why_refused(const kube::Object& local, std::string remote_namespace);

 private:
  struct Known {
    kube::TimePoint at{};
    std::set<std::string> withheld;  ///< the names of those that are not copied
  };
  asio::awaitable<kube::Result<void>> look(std::string ns);

  Context context_;
  kube::Api& provider_;
  std::map<std::string, Known, std::less<>> known_;  ///< by namespace; those that have any, or were looked at just now
};

}  // namespace liqo::controllers
