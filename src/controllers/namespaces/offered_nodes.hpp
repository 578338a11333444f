// Matches cluster selectors with virtual nodes.
// Tested by test/unit/controllers/namespaces/crowd_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "core/namespaces/selections.hpp"
#include "core/nodes/node.hpp"
#include "kube/runtime/view.hpp"

namespace liqo::controllers {

/// Keeps core::Selections equal to the VirtualNodes and their Nodes. Both are written often; a node is matched again,
/// and alone, only if its provider, spec or labels have changed. One thread.
class OfferedNodes {
 public:
  /// Called after a change. None may suspend.
  struct Handlers {
    /// A provider has come or gone for these selectors; there is at least one.
    std::function<void(const std::vector<std::string>& selectors)> selected = {};
    /// A provider has its first virtual node in a namespace, or its last one there is gone.
    std::function<void(const std::string& cluster)> homes = {};
    /// After each list.
    kube::Informer::SyncedHandler synced = {};
  };

  /// Lives as long as the handles, as a kube::View does. Handlers are not called for objects that exist already.
  OfferedNodes(const Context& context, kube::InformerHandle& virtual_nodes, kube::InformerHandle& nodes,
               Handlers handlers);
  OfferedNodes(const OfferedNodes&) = delete;
  OfferedNodes& operator=(const OfferedNodes&) = delete;

  core::Selections& selections() { return selections_; }
  const core::Selections& selections() const { return selections_; }
  /// Whether a NamespaceMap that is named after a provider and stands in that namespace may be ours: the provider has a
  /// virtual node there, or none anywhere.
  bool may_be_home(std::string_view cluster, const std::string& ns) const;

 private:
  /// The part of a VirtualNode that counts.
  struct Offer {
    std::string cluster;
    kube::Object node;  ///< its name and spec
    bool operator==(const Offer& other) const { return cluster == other.cluster && node.tree() == other.node.tree(); }
  };
  /// The part of a Node that counts: its name and labels.
  struct Labels {
    kube::Object node;
    bool operator==(const Labels& other) const { return node.tree() == other.node.tree(); }
  };
  static Offer offer_of(const kube::Object& virtual_node);
  static Labels labels_of(const kube::Object& node);
  void offer_changed(const kube::ObjectKey& key, const Offer* before, const Offer* now);
  void labels_changed(const std::string& name, const Labels* before, const Labels* now);
  /// Notes where a virtual node of a provider is. Returns whether it is the first one there.
  bool add_home(const std::string& cluster, const kube::ObjectKey& virtual_node);
  /// Notes that a virtual node of a provider is gone. Returns whether it was the last one there.
  bool remove_home(const std::string& cluster, const kube::ObjectKey& virtual_node);
  /// Matches a virtual node again. Returns the selectors for which a provider has come or gone.
  std::vector<std::string> look(const kube::ObjectKey& virtual_node);
  void notify(const std::vector<std::string>& selectors) const;

  const core::NodeContext ctx_;
  Handlers handlers_;
  core::Selections selections_;
  std::map<std::string, std::set<kube::ObjectKey>, std::less<>> named_;  ///< VirtualNodes by name
  /// By cluster: how many VirtualNodes it has in each namespace, never 0.
  std::map<std::string, std::map<std::string, std::size_t, std::less<>>, std::less<>> homes_;
  kube::View<Offer> offers_;   ///< of VirtualNodes
  kube::View<Labels> labels_;  ///< of their Nodes
};

}  // namespace liqo::controllers
