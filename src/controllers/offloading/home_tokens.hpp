// The tokens that the API server at home makes for offloaded pods, and its own audiences.
// Tested by test/unit/controllers/offloading/pod_tokens_test.cpp.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "controllers/common/context.hpp"
#include "core/offloading/service_account_token.hpp"

namespace liqo::controllers {

/// Asks the API server at home for tokens. A refusal is reported by an Event of its pod; one for lack of rights only if
/// it has lasted, because the right comes with a RoleBinding of the namespace that is made meanwhile. One thread.
class HomeTokens {
 public:
  /// After this time the audiences are asked for again; while nothing answers, the last ones hold.
  static constexpr std::chrono::minutes known_for{60};
  /// The pause after a failure, for the audiences by pods of the same namespace.
  static constexpr std::chrono::seconds failed_pause{15};
  /// Lack of rights that lasts so long is reported.
  static constexpr std::chrono::seconds rights_patience{20};

  explicit HomeTokens(Context context) : context_(context) {}

  /// The audiences of the API server as last learnt; empty = not known. The set lives as long as this object.
  const core::Audiences& audiences() const { return audiences_; }
  /// Learns the audiences if they are not known or old, by a token without audiences for this pod, which nobody gets to
  /// see. Returns at once if another pod asks already.
  asio::awaitable<kube::Result<void>> learn_audiences(const kube::Object& pod, const core::ClusterPair& clusters);
  /// Asks for one token of the pod's service account, bound to the pod.
  asio::awaitable<kube::Result<core::IssuedToken>> request(const kube::Object& pod, const core::TokenRequest& request,
                                                           const core::ClusterPair& clusters);

 private:
  struct Failed {
    kube::Failure failure;
    kube::TimePoint at{};
  };
  asio::awaitable<kube::Result<kube::Object>> ask(const kube::Object& pod, const core::TokenRequest& request,
                                                  const core::ClusterPair& clusters);
  void report(const kube::Object& pod, const kube::Failure& failure, const core::ClusterPair& clusters);

  Context context_;
  core::Audiences audiences_;
  std::optional<kube::TimePoint> learnt_at_;
  bool is_learning_ = false;
  std::map<std::string, Failed, std::less<>> failed_;                    ///< to learn the audiences, by namespace
  std::map<std::string, kube::TimePoint, std::less<>> forbidden_since_;  ///< by namespace
};

}  // namespace liqo::controllers
