// Which namespace at home is which namespace at the provider, in both directions, from data that the provider wrote.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "liqo/api/namespace_map.hpp"

namespace liqo::core {

/// An immutable table of the accepted entries of one NamespaceMap.
class NamespaceMapping {
 public:
  NamespaceMapping() = default;
  /// Takes the entries that this cluster asks for and the provider has accepted under that name. Entries with names
  /// that are no DNS labels, and all entries that share one remote namespace (a provider could otherwise make two
  /// namespaces see each other's objects), are left out and told in `refused`, one sentence each.
  static NamespaceMapping from(const api::NamespaceMap& map);

  /// The twin of a namespace at home, or nullptr.
  const std::string* to_remote(std::string_view local) const;
  /// The namespace at home that has this twin, or nullptr.
  const std::string* to_local(std::string_view remote) const;
  /// Local to remote, sorted.
  const std::map<std::string, std::string, std::less<>>& entries() const { return forward_; }
  const std::vector<std::string>& refused() const { return refused_; }
  bool operator==(const NamespaceMapping& other) const { return forward_ == other.forward_; }

 private:
  std::map<std::string, std::string, std::less<>> forward_, backward_;
  std::vector<std::string> refused_;
};

}  // namespace liqo::core
