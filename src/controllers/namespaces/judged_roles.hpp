// The ClusterRoles that policies name for the twins of a consumer, as they were found last.
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

/// liqod may read ClusterRoles by name, and watches none: each is looked at again after some time. One thread.
class JudgedRoles {
 public:
  /// Until a ClusterRole is looked at again: one that is bound, and one that is not.
  static constexpr std::chrono::seconds look_interval{60}, retry_interval{15};

  /// The ClusterRoles of a policy: those that are bound, and what is to be told of the others.
  struct Roles {
    std::set<std::string> bound;  ///< one that cannot be read now stays in it
    std::set<std::string> kinds;  ///< that these let write
    std::vector<std::string> told;
  };

  explicit JudgedRoles(Context context) : context_(context) {}

  /// Fails where a ClusterRole cannot be read of which nothing is known yet.
  asio::awaitable<kube::Result<Roles>> look_at(std::vector<std::string> names);
  /// Drops what is known of ClusterRoles of which this says that no policy names them any more.
  void forget_unless(const std::function<bool(const std::string& role)>& is_named);

 private:
  /// What a look at a ClusterRole has shown.
  struct Look {
    kube::TimePoint at{};
    core::RoleVerdict verdict;
  };

  Context context_;
  std::map<std::string, Look> looks_;  ///< by ClusterRole
};

}  // namespace liqo::controllers
