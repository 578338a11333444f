// The mapping of namespaces at home to their twins at the provider, read from what the provider wrote.
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
  /// that are no DNS labels are left out, and so are all entries that share one remote namespace, because a provider
  /// could otherwise make two namespaces see each other's objects; `refused` has a sentence about each. A twin that was
  /// in use in `before` stays in use while the provider reports trouble with it, because it has not removed the twin.
  static NamespaceMapping from(const api::NamespaceMap& map, const NamespaceMapping* before = nullptr);

  /// The twin of a namespace at home, or nullptr.
  const std::string* to_remote(std::string_view local) const;
  /// Whether the provider reports trouble with the twin of a namespace that is not mapped. The twin may have been in
  /// use before this process started, so that pods may run there: it is also `withdrawn`.
  bool is_troubled(std::string_view local) const { return tables_->troubled.contains(local); }
  /// The twin that a namespace must not use, or not now, but that is still at the provider, where pods may run in it
  /// until it is gone. nullptr if there is none.
  const std::string* withdrawn(std::string_view local) const;
  /// The namespaces at home whose entries differ between the two mappings.
  std::set<std::string, std::less<>> differences(const NamespaceMapping& other) const;
  /// Local to remote, sorted.
  const std::map<std::string, std::string, std::less<>>& entries() const { return tables_->forward; }
  const std::vector<std::string>& refused() const { return tables_->refused; }

 private:
  struct Tables {
    std::map<std::string, std::string, std::less<>> forward;
    std::map<std::string, std::string, std::less<>> withdrawn;
    std::set<std::string, std::less<>> troubled;
    std::vector<std::string> refused;
  };
  explicit NamespaceMapping(Tables tables) : tables_(std::make_shared<const Tables>(std::move(tables))) {}

  std::shared_ptr<const Tables> tables_ = std::make_shared<const Tables>();
};

}  // namespace liqo::core
