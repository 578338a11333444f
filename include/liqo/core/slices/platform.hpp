// What kind of machines consumers' pods run on, as far as the provider's nodes agree.
#pragma once

#include <map>
#include <string>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// What a consumer is told, as the labels of the same meaning; "" = nothing.
struct Platform {
  std::string os, architecture;
  bool operator==(const Platform&) const = default;
};

/// Counts the nodes of a cluster by what they are. Those that are cordoned or not Ready count: they are not so for
/// long, and what a consumer's pods are selected by must not come and go with them. One thread.
class Platforms {
 public:
  /// Takes the state of a node; null where it is gone. Virtual ones, and those that consumers are kept out of, do not
  /// count.
  void set_node(const std::string& name, const kube::Object* node);

  /// Nodes with a lasting taint decide only where all have one, since consumers' tolerations are left out of their
  /// pods. Pods are Linux ones unless they say otherwise, so Linux nodes decide where there are any; an OS is told
  /// where all nodes have another one. Of several architectures none is told: virtual nodes are amd64 then, as without
  /// an answer. Where amd64 is not among them that would be wrong for every pod, and the first by name is told.
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
