// The OS and architecture that a provider tells its consumers, from those of its nodes.
#pragma once

#include <map>
#include <string>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The values of the OS and architecture labels that a consumer is told; "" = not told.
struct Platform {
  std::string os, architecture;
  bool operator==(const Platform&) const = default;
};

/// Counts the nodes of a cluster by OS and architecture. Nodes that are cordoned or not Ready count as well, because
/// labels that select a consumer's pods must not come and go with them. One thread.
class Platforms {
 public:
  /// Takes the state of a node; null where it is gone. Nodes that are not for consumers (is_for_consumers) do not
  /// count.
  void set_node(const std::string& name, const kube::Object* node);

  /// Nodes with a lasting taint decide only where all nodes have one, because consumers' tolerations are left out of
  /// their pods. Linux nodes decide where there are any, because pods are for Linux unless they say otherwise; another
  /// OS is told only where all nodes have it. Of several architectures none is told, and virtual nodes are amd64 then.
  /// Where amd64 is not among them, that would be wrong for every pod, so that the first by name is told.
  Platform common() const;

 private:
  /// How many nodes there are of each architecture, by OS.
  using Counts = std::map<std::string, std::map<std::string, int, std::less<>>, std::less<>>;
  struct Node {
    Platform platform;
    bool tainted = false;
  };
  std::map<std::string, Node> nodes_;
  Counts open_, tainted_;
};

}  // namespace liqo::core
