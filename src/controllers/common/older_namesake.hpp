// Chooses which of the VirtualNodes of one name has the Node and the session.
// Tested by test/unit/controllers/nodes/namesakes_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/nodes/namesakes.hpp"
#include "kube/runtime/informer.hpp"

namespace liqo::controllers {

/// The index of VirtualNodes by their names, which are those of their Nodes.
inline constexpr std::string_view by_node_name = "name";
inline void index_by_node_name(kube::Informer& virtual_nodes) {
  virtual_nodes.add_index(std::string(by_node_name), [](const kube::Object& object, std::vector<std::string>& out) {
    out.emplace_back(object.name());
  });
}

/// The older VirtualNode in another namespace that has the name of this one; nothing if this is the oldest.
/// `virtual_nodes` has the index.
inline std::optional<kube::Object> older_namesake(const kube::Informer& virtual_nodes,
                                                  const kube::Object& virtual_node) {
  std::optional<kube::Object> older;
  for (kube::Object& other : virtual_nodes.objects(by_node_name, virtual_node.name()))
    if (other.ns() != virtual_node.ns() && core::comes_first(other, older ? *older : virtual_node))
      older = std::move(other);
  return older;
}

}  // namespace liqo::controllers
