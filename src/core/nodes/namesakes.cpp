#include "core/nodes/namesakes.hpp"

#include <tuple>

#include "kube/base/printable.hpp"
#include "liqo/api/virtual_node.hpp"

namespace liqo::core {

bool comes_first(const kube::Object& one, const kube::Object& other) {
  return std::tuple(one.creation_timestamp(), one.uid()) < std::tuple(other.creation_timestamp(), other.uid());
}

std::string name_taken_text(const kube::Object& older) {
  return "VirtualNode " + older.key().text() + " of cluster " +
         kube::printable(kube::cut_text(api::VirtualNode(older).cluster_id(), 63)) +
         " has the Node of this name, because it is older: delete one of the two, and create it under another name";
}

std::vector<virtual_node_action::Report> report_standing_aside(const kube::Object& older,
                                                               const kube::Result<std::size_t>& left) {
  virtual_node_action::Report session{.type = "VirtualKubelet", .status = "None", .reason = name_taken};
  session.message = name_taken_text(older);
  virtual_node_action::Report node = session;
  node.type = "Node";
  if (!left) {
    session.status = "Draining";
    session.reason = "PodsNotEnded";
    session.message = "its pods at the provider cannot be ended: " + left.error().text();
  } else if (*left > 0) {
    session.status = "Draining";
    session.message += "; its pods at the provider end";
  }
  return {std::move(node), std::move(session)};
}

}  // namespace liqo::core
