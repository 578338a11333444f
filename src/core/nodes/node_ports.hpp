// Which virtual node has which port of the kubelet API. A request whose path names no pod is for the node behind the
// port at which it arrives. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The ports that are distributed among virtual nodes. The server always listens on the first.
struct PortRange {
  std::uint16_t first = 10250;
  int count = 1;  ///< 1 = all nodes have the same port
  bool contains(std::int64_t port) const { return port >= first && port < std::int64_t{first} + count; }
};

/// The port that each Node shows, by name; 0 = none.
using NodePorts = std::map<std::string, std::int64_t>;

/// The port that a Node shows; nothing if the Node is not ours (`why_foreign`).
std::optional<std::int64_t> shown_port(const kube::Object& node);

/// A port for each node: the port that it shows, if that is in the range and no node with a lower name shows it, too;
/// else the lowest free port. If there are more nodes than ports, the rest share the first one.
std::map<std::string, std::uint16_t> plan_node_ports(const PortRange& range, const NodePorts& nodes);

/// The nodes behind each port. A node that shows no port of the range is behind the first, as every node was before
/// nodes had ports of their own.
std::map<std::uint16_t, std::set<std::string>> nodes_at_ports(const PortRange& range, const NodePorts& nodes);

}  // namespace liqo::core
