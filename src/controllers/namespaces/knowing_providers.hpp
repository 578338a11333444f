// The providers whose pods resolve the names that namespaces have at home, by the labels of their virtual nodes.
// Tested by test/unit/controllers/common/home_names_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "kube/runtime/view.hpp"

namespace liqo::controllers {

/// Follows VirtualNodes. One thread.
class KnowingProviders {
 public:
  /// `changed` is called when knows() has another answer for any provider; must not suspend. Lives as long as the
  /// handle, as a kube::View does.
  KnowingProviders(kube::InformerHandle& virtual_nodes, std::function<void()> changed);
  KnowingProviders(const KnowingProviders&) = delete;
  KnowingProviders& operator=(const KnowingProviders&) = delete;

  /// Whether a virtual node of the provider says so. A provider says the same of all of its nodes.
  bool knows(std::string_view cluster) const { return counts_.contains(cluster); }

 private:
  /// The provider of a VirtualNode, if pods there know the names of home; "" otherwise.
  static std::string cluster_of(const kube::Object& virtual_node);
  void take(const std::string* before, const std::string* now);

  std::function<void()> changed_;
  std::map<std::string, int, std::less<>> counts_;  ///< by cluster, never 0
  kube::View<std::string> view_;
};

}  // namespace liqo::controllers
