// Which providers the cluster selectors of thousands of namespaces select, kept while virtual nodes come and go.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/node_selector.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Whether a cluster selector selects a node of that name with these labels. One without terms selects every node.
inline bool is_selected(const NodeSelector& selector, std::string_view node_name, const kube::json::object& labels) {
  return selector.empty() || selector.matches(node_name, labels);
}

/// Finds for each namespace the providers that have a virtual node which its selector selects. A selector that many
/// namespaces have is evaluated once for all of them, and a virtual node that changes is evaluated by itself. One
/// thread.
class Selections {
 public:
  /// What a selector sees of a virtual node.
  struct Node {
    std::string cluster;  ///< its provider; one without a provider is selected by none
    std::string name;
    kube::json::object labels;
    bool operator==(const Node&) const = default;
  };
  /// By cluster ID how many of its virtual nodes are selected, never 0.
  using Clusters = std::map<std::string, std::size_t, std::less<>>;

  /// Takes in what is known of a virtual node; nothing = it is gone. Returns the selectors for which a provider has
  /// come or gone by this, by the texts that ask() was given.
  std::vector<std::string> see(const kube::ObjectKey& virtual_node, std::optional<Node> now);

  /// The providers that the selector of a namespace selects, which is noted for askers(). One text is one selector. The
  /// result is valid until the next call that is not const.
  const Clusters& ask(const std::string& ns, const std::string& text, const NodeSelector& selector);
  /// What ask() would return for the selector that it was asked about last; null if that is forgotten.
  const Clusters* asked(std::string_view ns) const;
  /// The namespace has no valid selector any more.
  void forget(const std::string& ns);

  /// The namespaces that have this selector.
  std::vector<std::string> askers(std::string_view text) const;
  /// The namespaces whose selector selects that provider.
  std::vector<std::string> askers_of(std::string_view cluster) const;
  /// How often a selector was evaluated for a node so far.
  std::uint64_t evaluations() const { return evaluations_; }

 private:
  struct Selection {
    NodeSelector selector;
    Clusters clusters;
    std::set<std::string, std::less<>> askers;
  };
  /// Adds the node to the clusters of a selector, or takes it away. Returns whether its cluster has come or gone.
  bool count(Selection& selection, const Node& node, bool is_there);

  std::map<kube::ObjectKey, Node> nodes_;
  std::map<std::string, Selection, std::less<>> selections_;  ///< by text
  std::map<std::string, std::string, std::less<>> texts_;     ///< by namespace
  std::uint64_t evaluations_ = 0;
};

}  // namespace liqo::core
