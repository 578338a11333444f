// Which virtual node has which port of the kubelet API, so that paths that name no pod are of one node. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The ports that virtual nodes share out among themselves. The first is listened on always.
struct PortRange {
  std::uint16_t first = 10250;
  int count = 1;  ///< of one: it is that of every node
  bool contains(std::int64_t port) const { return port >= first && port < std::int64_t{first} + count; }
};

/// Nodes by name, each with the port that it shows, 0 where it shows none.
using NodePorts = std::map<std::string, std::int64_t>;

/// The port that a Node shows; nothing where it is none of ours (`why_foreign`).
std::optional<std::int64_t> shown_port(const kube::Object& node);

/// A port for each node: the one that it shows, if that is in the range and no node of a lower name shows it, too; else
/// the lowest that is free. Where there are more nodes than ports, those for whom none is left share the first one.
std::map<std::string, std::uint16_t> plan_node_ports(const PortRange& range, const NodePorts& nodes);

/// Who is asked at which port: a node that shows none of the range is at the first, as every node was before nodes had
/// ports of their own.
std::map<std::uint16_t, std::set<std::string>> nodes_at_ports(const PortRange& range, const NodePorts& nodes);

}  // namespace liqo::core
