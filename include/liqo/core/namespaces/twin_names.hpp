// Which names the new twins of a consumer may have: a name that nobody has yet may be one that somebody else is about
// to use.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace liqo::core {

/// What decides on the names of one consumer's new twins.
struct TwinNameRules {
  std::string consumer;                ///< its cluster ID
  std::vector<std::string> consumers;  ///< IDs of everybody who has a tenant namespace here
  /// Patterns, where the provider's administrator has set some: `*` stands for any text. They take the place of the
  /// rule that names end in `-<consumer>`.
  std::optional<std::vector<std::string>> allowed;
  std::string mistake;  ///< why the policy cannot be understood; then no new twin is made
};

/// Whether the name is one that the pattern describes; `*` in it is any text, also none.
bool matches_name_pattern(std::string_view pattern, std::string_view name);

/// Why a consumer gets no new twin of this name, "" if it does. Where nothing else is allowed, names end in
/// `-<consumer>`. Of several known IDs the longest that a name ends in decides whose it is, and names that other
/// software usually has are nobody's, unless they are allowed as they stand, without a `*`.
std::string refuse_new_twin_name(std::string_view name, const TwinNameRules& rules);

/// A namespace of the cluster.
struct NamedNamespace {
  std::string_view name;
  bool is_of_peer = false;  ///< a tenant namespace, or a twin
};
/// The namespace, one of those or a widely known one, that would count as a twin of a consumer of this ID; "" if there
/// is none.
std::string namespace_of_id(std::string_view id, std::span<const NamedNamespace> namespaces);

}  // namespace liqo::core
