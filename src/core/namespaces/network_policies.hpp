// The report that NetworkPolicies hold in their own cluster alone.
// Tested by test/unit/core/namespaces/network_policies_test.cpp.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace liqo::core {

/// The NetworkPolicies of a namespace, by name, as far as they are named.
struct FoundPolicies {
  static constexpr std::size_t max_named = 4;

  std::vector<std::string> names;
  std::size_t count = 0;

  /// Counts one more, and notes its name if there is room.
  void add(std::string_view name);
};

/// Says that these do not hold for pods in a cluster, whose twin namespace is `twin`, and what can be done about it.
std::string describe_policies_at_home(const FoundPolicies& policies, std::string_view cluster, std::string_view twin);

/// The clusters that an annotation lists, with blanks between them, and its text for a set of them. The order is that
/// of the names. What is no name of a cluster is left out.
std::set<std::string, std::less<>> read_clusters(std::string_view text);
std::string list_clusters(const std::set<std::string, std::less<>>& clusters);

}  // namespace liqo::core
