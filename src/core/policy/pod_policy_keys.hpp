// The keys of a tenant's pod policy, for whoever writes or shows one; read_pod_policy reads by the same table.
// Tested by test/unit/core/policy/pod_policy_keys_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace liqo::core {

/// What a key of the policy holds.
enum class PolicyValue {
  flag,     ///< true or false
  names,    ///< a list of names; that of `priorityClasses` may be a map of names
  ranges,   ///< a list of ranges of addresses
  number,   ///< 0 or more
  amounts,  ///< a map from names of resources to quantities
  times,    ///< a map from `maxBlock` to a time such as 10m
};

struct PolicyKey {
  std::string_view name;
  PolicyValue value = PolicyValue::flag;
  /// Whether it forbids what it names, or what it is true for. Others allow that.
  bool forbids = false;
};

/// All of them, sorted by kind of value.
std::vector<PolicyKey> policy_keys();

/// The most bytes that a policy may have.
inline constexpr std::size_t max_policy_bytes = 16 * 1024;

/// "; did you mean maxResources?": the nearest key, to be put behind the refusal of another one; "" if none is near.
std::string nearest_policy_key(std::string_view key);

}  // namespace liqo::core
