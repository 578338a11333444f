// The virtual nodes as cluster selectors see them, and whom they select.
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

/// Keeps core::Selections equal to the VirtualNodes and their Nodes. Both are written often; only another provider,
/// spec or labels make it look at a node again, and at that node alone. One thread.
class OfferedNodes {
 public:
  /// What is called after a change. Neither may suspend.
  struct Handlers {
    /// A provider has come or gone for these selectors, which are never none.
    std::function<void(const std::vector<std::string>& selectors)> selected = {};
    /// A provider has its first virtual node in a namespace, or its last one there is gone.
    std::function<void(const std::string& cluster)> homes = {};
    /// After each list.
    kube::Informer::SyncedHandler synced = {};
  };

  /// Ends with the handles, as a kube::View. Of what is there already nothing is told.
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
  /// What of a VirtualNode counts.
  struct Offer {
    std::string cluster;
    kube::Object node;  ///< its name and spec
    bool operator==(const Offer& other) const { return cluster == other.cluster && node.tree() == other.node.tree(); }
  };
  /// What of a Node counts: its name and labels.
  struct Labels {
    kube::Object node;
    bool operator==(const Labels& other) const { return node.tree() == other.node.tree(); }
  };
  static Offer offer_of(const kube::Object& virtual_node);
  static Labels labels_of(const kube::Object& node);
  void offer_changed(const kube::ObjectKey& key, const Offer* before, const Offer* now);
  void labels_changed(const std::string& name, const Labels* before, const Labels* now);
  /// Notes where a virtual node of a provider is. Answers whether it is the first one there.
  bool add_home(const std::string& cluster, const kube::ObjectKey& virtual_node);
  /// Answers whether it was the last one there.
  bool remove_home(const std::string& cluster, const kube::ObjectKey& virtual_node);
  /// Has the selectors look at a virtual node again. Answers for which of them a provider has come or gone.
  std::vector<std::string> look(const kube::ObjectKey& virtual_node);
  void tell(const std::vector<std::string>& selectors) const;

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
