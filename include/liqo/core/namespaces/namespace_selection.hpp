// Namespaces that are offloaded as they are made, because an operator has said which labels such namespaces have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"
#include "liqo/core/node_selector.hpp"

namespace liqo::core {

/// As an operator writes it.
struct NamespaceSelectionTexts {
  std::string selector;  ///< of namespaces' labels, as `kubectl -l` reads it; "" = no namespace is selected
  std::string pod_strategy = "LocalAndRemote";
  std::string mapping_strategy = "DefaultName";
  std::vector<std::string> clusters;  ///< selectors of virtual nodes, one of which is enough; none = every node
};

/// Which namespaces are offloaded by themselves, and how.
class NamespaceSelection {
 public:
  /// Selects nothing.
  NamespaceSelection() = default;
  /// Errors: Errc::invalid_input, also for a selector that means Kubernetes' own namespaces or `liqo_namespace`: they
  /// have no label but their name, unless somebody gives them one.
  static kube::Result<NamespaceSelection> read(NamespaceSelectionTexts texts, std::string_view liqo_namespace);

  /// False where the operator has said nothing.
  explicit operator bool() const { return !texts_.selector.empty(); }
  /// As it was written.
  const std::string& text() const { return texts_.selector; }
  /// The same as `matchExpressions` of a meta/v1 LabelSelector.
  const kube::json::array& requirements() const { return requirements_; }
  /// False with the strategy Local, under which admission has nothing to do with the pods.
  bool moves_pods() const { return texts_.pod_strategy != "Local"; }

  /// Whether the labels of a namespace are those.
  bool matches(const kube::Object& ns) const { return labels_.matches("", ns.labels()); }
  /// Whether it is to be offloaded: it matches, does not go, and may leave this cluster.
  bool selects(const kube::Object& ns, std::string_view liqo_namespace) const;
  /// What a selected namespace gets; its annotation says which selector made it.
  kube::Object forge_offloading(std::string_view ns) const;

 private:
  NamespaceSelectionTexts texts_;
  kube::json::array requirements_;
  kube::json::object cluster_selector_;
  NodeSelector labels_;
};

/// Why a namespace cannot be offloaded, as a sentence; "" if it can be.
std::string why_kept_here(const kube::Object& ns, std::string_view liqo_namespace);
/// Why it is not offloaded whatever its labels: likewise, but of fewer namespaces, since nobody has named this one.
std::string why_not_selected(const kube::Object& ns, std::string_view liqo_namespace);

/// Whether the NamespaceOffloading was made for the labels of its namespace, and not by hand.
bool is_of_selection(const kube::Object& offloading);

}  // namespace liqo::core
