// The part of the settings that goes into every Node.
#pragma once

#include "controllers/common/settings.hpp"
#include "core/nodes/node.hpp"

namespace liqo::controllers {

/// The input that core needs besides a VirtualNode to forge its Node: the address, port and version of the kubelet that
/// this process acts as, and the labels and annotations of every Node.
inline core::NodeContext node_context(const Settings& settings) {
  return {.node_ip = settings.nodes.node_ip,
          .kubelet_port = settings.nodes.kubelet_ports.first,
          .kubelet_version = settings.nodes.kubelet_version,
          .extra_labels = settings.nodes.node_extra_labels,
          .extra_annotations = settings.nodes.node_extra_annotations};
}

}  // namespace liqo::controllers
