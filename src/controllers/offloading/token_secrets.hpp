// The Secrets at home whose service-account tokens are not copied, and the pods that wait for them.
// Tested by test/unit/controllers/offloading/token_secrets_test.cpp.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "controllers/common/context.hpp"

namespace liqo::controllers {

/// Lists the Secrets of type service-account-token of a namespace when a pod that needs a Secret is to be sent: there
/// is no watch of Secrets. One list serves all pods of the namespace. One thread.
class TokenSecrets {
 public:
  /// For so long a list counts as new for pods that it lets pass.
  static constexpr std::chrono::seconds known_for{60};
  /// The same for pods that it does not let pass: somebody may have annotated the Secret.
  static constexpr std::chrono::seconds refused_for{3};

  /// `provider` outlives it.
  TokenSecrets(Context context, kube::Api& provider) : context_(context), provider_(provider) {}

  /// Why the pod is not sent, a clause; "" = it may be sent, also if home does not let this process look; nothing = the
  /// first list of the namespace is under way for another pod. It is not sent if a Secret that it needs holds a token
  /// that is not copied. A Secret of that name by others in the twin will do.
  asio::awaitable<kube::Result<std::optional<std::string>>> why_refused(const kube::Object& local,
                                                                        std::string remote_namespace);

 private:
  struct Known {
    kube::TimePoint at{};
    std::set<std::string> withheld;  ///< the names of those that are not copied
  };
  /// Lists them unless the last list is younger than `age`, or another pod lists them.
  asio::awaitable<kube::Result<void>> look(std::string ns, kube::Duration age);
  bool is_any_withheld(const std::string& ns, const std::set<std::string>& names) const;

  Context context_;
  kube::Api& provider_;
  std::map<std::string, Known, std::less<>> known_;  ///< by namespace, of the last minutes
  std::set<std::string> looking_;                    ///< the namespaces that are being listed
};

}  // namespace liqo::controllers
