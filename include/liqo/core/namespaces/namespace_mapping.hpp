// Which namespace at home is which namespace at the provider, in both directions, from data that the provider wrote.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "liqo/api/namespace_map.hpp"

namespace liqo::core {

/// An immutable table of the accepted entries of one NamespaceMap. Copies share it: each virtual node of a provider has
/// one, and each may have a thousand entries.
class NamespaceMapping {
 public:
  NamespaceMapping() = default;
  /// Takes the entries that this cluster asks for and the provider has accepted under that name. Entries with names
  /// that are no DNS labels, and all entries that share one remote namespace (a provider could otherwise make two
  /// namespaces see each other's objects), are left out and told in `refused`, one sentence each. What was in use
  /// `before` stays so while the provider reports trouble with it: it has not taken the twin away.
  static NamespaceMapping from(const api::NamespaceMap& map, const NamespaceMapping* before = nullptr);

  /// The twin of a namespace at home, or nullptr.
  const std::string* to_remote(std::string_view local) const;
  /// The namespace at home that has this twin, or nullptr.
  const std::string* to_local(std::string_view remote) const;
  /// Whether the provider reports trouble with the twin of a namespace that is not mapped. It may have been in use
  /// before this process knew: pods may run there.
  bool is_troubled(std::string_view local) const { return tables_->troubled.contains(local); }
  /// The twin that a namespace had and must not use any more, while the provider says that it is still there: pods may
  /// run in it until it is gone. nullptr where there is none.
  const std::string* withdrawn(std::string_view local) const;
  /// The namespaces at home of which another mapping says another thing.
  std::set<std::string, std::less<>> differences(const NamespaceMapping& other) const;
  /// Local to remote, sorted.
  const std::map<std::string, std::string, std::less<>>& entries() const { return tables_->forward; }
  const std::vector<std::string>& refused() const { return tables_->refused; }
  bool operator==(const NamespaceMapping& other) const { return entries() == other.entries(); }

 private:
  struct Tables {
    std::map<std::string, std::string, std::less<>> forward, backward;
    std::map<std::string, std::string, std::less<>> withdrawn;
    std::set<std::string, std::less<>> troubled;
    std::vector<std::string> refused;
  };
  explicit NamespaceMapping(Tables tables) : tables_(std::make_shared<const Tables>(std::move(tables))) {}

  std::shared_ptr<const Tables> tables_ = std::make_shared<const Tables>();
};

}  // namespace liqo::core
