// The twin namespaces that a consumer asks of one provider, in one NamespaceMap.
// Tested by test/unit/core/namespaces/namespace_offloading_test.cpp.
// Tested by test/unit/core/namespaces/withdrawal_test.cpp.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "core/common/node_selector.hpp"
#include "core/namespaces/twin_plan.hpp"
#include "core/nodes/node.hpp"
#include "kube/base/time.hpp"
#include "liqo/api/namespace_map.hpp"
#include "liqo/api/namespace_offloading.hpp"

namespace liqo::core {

/// A virtual node, for cluster selectors to match.
struct OfferedNode {
  const kube::Object* virtual_node = nullptr;
  const kube::Object* node = nullptr;  ///< its Node; null if there is none (yet)
};

/// The labels that selectors see: those of its Node, or those that its Node will have.
kube::json::object offered_labels(const OfferedNode& offered, const NodeContext& ctx);

/// The most twins that one NamespaceMap asks for, which is also the most that a provider gives. With the longest names
/// and all answers the object has less than 700 KB, half of what etcd takes.
inline constexpr std::size_t max_mappings = max_twins;
/// The most entries of a NamespaceMap that a provider's admission takes. It is more than max_mappings, so that a
/// consumer which asks for too many learns which twins it does not get.
inline constexpr std::size_t max_mappings_taken = 2000;

/// The part of a NamespaceOffloading that decides about twins. No more than this is kept in memory of thousands of
/// them.
struct TwinRequest {
  std::string local;                          ///< the namespace
  bool counts = false;                        ///< it has the right name and is not being deleted
  bool is_guarded = false;                    ///< it has our finalizer, so that its twins are removed before it
  std::optional<NodeSelector> selector = {};  ///< unset if it is invalid
  std::optional<std::string> remote = {};     ///< name of the twins; unset if it is invalid
  std::string uid;                            ///< of the NamespaceOffloading
  std::string selects;                        ///< the selector as text; the same of many namespaces
  bool operator==(const TwinRequest&) const = default;
};
/// Reads a NamespaceOffloading, also one that is invalid or being deleted; `local_cluster` is part of default names.
TwinRequest twin_request(const kube::Object& offloading, std::string_view local_cluster);

/// Local namespace to twin.
using WantedTwins = std::map<std::string, std::string, std::less<>>;
/// The twins that a NamespaceMap asks for.
WantedTwins asked_by(const kube::Object& map);

/// What is remembered about one provider between two decisions. A restart loses it without harm: a twin for which no
/// node is selected is then kept as if the labels of its node had changed.
struct TwinMemory {
  struct Selection {
    std::string by;                             ///< the NamespaceOffloading and its selector, "" = not known
    std::set<std::string, std::less<>> nodes;   ///< the virtual nodes that it selected when it last selected any
    std::optional<kube::TimePoint> lost_since;  ///< since when it selects none though nobody changed it
  };
  std::map<std::string, Selection, std::less<>> namespaces;
};

/// What the decision is about.
struct ObservedTwins {
  std::span<const TwinRequest* const> requests;
  std::span<const OfferedNode> nodes;  ///< of the provider
  const WantedTwins& current;          ///< what its NamespaceMap asks for
};

/// What the decision needs beside the objects.
struct TwinRules {
  const NodeContext& node;
  kube::TimePoint now;
  kube::Duration grace;  ///< how long a twin stays after changed labels left it without a node
};

/// The twins that a provider is to have, and those among them that will go.
struct TwinWish {
  WantedTwins twins;
  /// A namespace whose twin is kept for a while, because the change of labels may be a mistake.
  struct Leaving {
    kube::Duration left;
    bool is_new = false;  ///< this decision is the first to say so: report it
  };
  std::map<std::string, Leaving> leaving;
};

/// The twins that a provider with these nodes is to have. A request that counts gets a twin once it is guarded. A twin
/// in `current` is given up only if somebody asks for that: the NamespaceOffloading is deleted or gets another
/// selector, or the virtual nodes that it selected are deleted. The twin stays while the selector or the name is
/// invalid, while a Node is missing, and for `rules.grace` after labels have changed. Of more than max_mappings twins
/// those in `current` come first.
TwinWish wanted_twins(const ObservedTwins& observed, const TwinRules& rules, TwinMemory& memory);

/// Leaves out twins beyond max_mappings, the last ones first; those in `current` stay.
void cut_to_max(WantedTwins& twins, const WantedTwins& current);

/// The NamespaceMap to create in the tenant namespace of a provider: named after it, and marked for replication.
kube::Object forge_namespace_map(const kube::ObjectKey& key, std::string_view remote_cluster,
                                 const WantedTwins& wanted);
/// JSON merge patch, with the resourceVersion, that gives the map the labels of replication and these twins; nothing if
/// it has them.
std::optional<kube::json::object> plan_namespace_map(const kube::Object& map, std::string_view remote_cluster,
                                                     const WantedTwins& wanted);

}  // namespace liqo::core
