// Which names a consumer's new twins may have: a free name may be one that another consumer or other software will
// need.
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
  /// Patterns, if the provider's administrator has set some: `*` stands for any text. They take the place of the rule
  /// that names end in `-<consumer>`.
  std::optional<std::vector<std::string>> allowed;
  std::string mistake;  ///< why the policy cannot be read; "" = it can. No new twin is created otherwise
};

/// Whether the name matches the pattern, in which `*` stands for any text, also none.
bool matches_name_pattern(std::string_view pattern, std::string_view name);

/// Why a consumer gets no new twin of this name; "" if it does. Without `allowed` patterns the name has to end in
/// `-<consumer>`. A name that ends in several known IDs belongs to the consumer with the longest. Names that other
/// software usually has are refused unless a pattern without `*` names them.
std::string refuse_new_twin_name(std::string_view name, const TwinNameRules& rules);

/// A namespace of the cluster.
struct NamedNamespace {
  std::string_view name;    ///< of a text that outlives this
  bool is_of_peer = false;  ///< a tenant namespace, or a twin
};
/// The namespace, among `namespaces` or the widely known ones, whose name would make it a twin of a consumer with this
/// ID; "" if there is none.
std::string namespace_of_id(std::string_view id, std::span<const NamedNamespace> namespaces);

}  // namespace liqo::core
