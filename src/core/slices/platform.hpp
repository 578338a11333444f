// The OS, architecture, place and declared features of its machines that a provider reports to its consumers.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The labels by which nodes say where they are.
inline constexpr std::string_view zone_label = "topology.kubernetes.io/zone",
                                  region_label = "topology.kubernetes.io/region";

/// What is reported to a consumer.
struct Platform {
  std::string os, architecture;                     ///< the values of the labels; "" = not reported
  std::vector<std::string> features = {};           ///< that all nodes declare (`status.declaredFeatures`), sorted
  std::vector<std::string> features_left_out = {};  ///< those that all nodes declare and that cannot be reported
  std::string zone = {}, region = {};               ///< those of all nodes; "" = they have several, or some has none
  bool operator==(const Platform&) const = default;
};

/// Counts the nodes of a cluster by what they are. Nodes that are cordoned or not Ready count as well, because labels
/// that select a consumer's pods must not come and go with them. One thread.
class Platforms {
 public:
  Platforms() = default;
  // Not to be copied: a node refers to the count of its kind.
  Platforms(Platforms&&) = default;
  Platforms& operator=(Platforms&&) = default;

  /// Takes the state of a node; null if it is gone. Nodes that are not for consumers (is_for_consumers) do not count.
  /// False: what counts is as it was, so that common() has the same answer. That is found out without allocating
  /// anything, because it is so for nearly all heartbeats.
  bool set_node(const std::string& name, const kube::Object* node);

  /// The platform that is reported. Nodes with a lasting taint decide only if all nodes have one, because consumers'
  /// tolerations are left out of their pods. Linux nodes decide if there are any, because pods are for Linux unless
  /// they say otherwise; another OS is reported only if all nodes have it. Of several architectures none is reported,
  /// and virtual nodes are amd64 then. If amd64 is not among them, that would be wrong for every pod, so that the first
  /// by name is reported. A feature is reported if each of the nodes that decide declares it, because a pod may come to
  /// any of them. A zone or region is reported if each of them has it.
  Platform common() const;

 private:
  /// What distinguishes nodes here. Those of a cluster are of few kinds.
  struct Kind {
    std::string os, architecture, zone, region;
    std::vector<std::string> features;  ///< sorted
    auto operator<=>(const Kind&) const = default;
  };
  /// How many nodes there are of each kind.
  using Counts = std::map<Kind, int>;
  struct Node {
    Counts::iterator kind;
    bool tainted = false;
  };
  static Kind kind_of(const kube::Object& node);
  static bool is_of(const kube::Object& node, const Kind& kind);
  Counts& counts_of(bool tainted) { return tainted ? tainted_ : open_; }

  std::map<std::string, Node> nodes_;
  Counts open_, tainted_;
};

}  // namespace liqo::core
