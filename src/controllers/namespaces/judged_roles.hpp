// The ClusterRoles that policies name for the twins of a consumer, as they were last read.
// Tested by test/unit/controllers/namespaces/twin_pod_bounds_test.cpp.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "core/namespaces/tenant_roles.hpp"

namespace liqo::controllers {

/// Reads ClusterRoles by name, because liqod may not watch them, and reads each again after some time. One thread.
class JudgedRoles {
 public:
  /// The time until a ClusterRole is read again: one that is bound, and one that is not.
  static constexpr std::chrono::seconds look_interval{60}, retry_interval{15};

  /// The ClusterRoles of a policy: those that are bound, and why the others are not.
  struct Roles {
    std::set<std::string> bound;  ///< one that cannot be read now stays in it
    std::set<std::string> kinds;  ///< kinds that these roles allow to write
    std::vector<std::string> refusals;
  };

  explicit JudgedRoles(Context context) : context_(context) {}

  /// Fails if a ClusterRole cannot be read that was never read before.
  asio::awaitable<kube::Result<Roles>> look_at(std::vector<std::string> names);
  /// Forgets the ClusterRoles for which `is_named` returns false: no policy names them any more.
  void forget_unless(const std::function<bool(const std::string& role)>& is_named);

 private:
  /// The result of reading a ClusterRole.
  struct Judged {
    kube::TimePoint at{};
    core::RoleVerdict verdict;
  };

  Context context_;
  std::map<std::string, Judged> judged_;  ///< by ClusterRole
};

}  // namespace liqo::controllers
