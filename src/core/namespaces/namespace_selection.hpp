// Which namespaces are offloaded without a NamespaceOffloading by hand: an operator names the labels that such
// namespaces have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/common/node_selector.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The settings as the operator wrote them.
struct NamespaceSelectionTexts {
  std::string selector;  ///< of namespaces' labels, as `kubectl -l` reads it; "" = no namespace is selected
  std::string pod_strategy = "LocalAndRemote";
  std::string mapping_strategy = "DefaultName";
  std::vector<std::string> clusters;  ///< selectors of virtual nodes, one of which is enough; none = every node
};

/// Which namespaces are selected, and how they are offloaded.
class NamespaceSelection {
 public:
  /// Selects nothing.
  NamespaceSelection() = default;
  /// Errors: Errc::invalid_input, also for a selector that matches Kubernetes' own namespaces or `liqo_namespace` when
  /// they have no label but that of their name.
  static kube::Result<NamespaceSelection> read(NamespaceSelectionTexts texts, std::string_view liqo_namespace);

  /// False if no selector is set.
  explicit operator bool() const { return !texts_.selector.empty(); }
  /// The selector as it was written.
  const std::string& text() const { return texts_.selector; }
  /// The selector as `matchExpressions` of a meta/v1 LabelSelector.
  const kube::json::array& requirements() const { return requirements_; }
  /// False with the strategy Local, under which admission has nothing to do with the pods.
  bool moves_pods() const { return texts_.pod_strategy != "Local"; }

  /// Whether the labels of a namespace match the selector.
  bool matches(const kube::Object& ns) const { return labels_.matches("", ns.labels()); }
  /// Whether a namespace is to be offloaded: it matches, is not being deleted, and may leave this cluster.
  bool selects(const kube::Object& ns, std::string_view liqo_namespace) const;
  /// The NamespaceOffloading of a selected namespace; its annotation names the selector.
  kube::Object forge_offloading(std::string_view ns) const;

 private:
  NamespaceSelectionTexts texts_;
  kube::json::array requirements_;
  kube::json::object cluster_selector_;
  NodeSelector labels_;
};

/// Why a namespace cannot be offloaded, as a sentence; "" if it can be.
std::string why_kept_here(const kube::Object& ns, std::string_view liqo_namespace);
/// Why a namespace is never selected, whatever its labels; "" if it can be. Stricter than why_kept_here(), because
/// nobody has named this namespace.
std::string why_not_selected(const kube::Object& ns, std::string_view liqo_namespace);

/// Whether the NamespaceOffloading was made for the labels of its namespace, and not by hand.
bool is_of_selection(const kube::Object& offloading);

}  // namespace liqo::core
