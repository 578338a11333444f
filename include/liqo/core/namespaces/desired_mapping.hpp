// What a consumer asks of one provider: the twins of all its namespaces, in one NamespaceMap.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "kube/base/time.hpp"
#include "liqo/api/namespace_map.hpp"
#include "liqo/api/namespace_offloading.hpp"
#include "liqo/core/node_selector.hpp"
#include "liqo/core/nodes/node.hpp"

namespace liqo::core {

/// A virtual node as cluster selectors see it.
struct OfferedNode {
  const kube::Object* virtual_node = nullptr;
  const kube::Object* node = nullptr;  ///< its Node; null where there is none (yet)
};

/// Whether the node is selected: by the labels of its Node, or by those that its Node will have. A selector without
/// terms selects every node.
bool is_selected(const NodeSelector& selector, const OfferedNode& offered, const NodeContext& ctx);

/// What one NamespaceMap asks for at most, which is what a provider gives. With the longest names and all answers the
/// object has less than 700 KB, half of what etcd takes.
inline constexpr std::size_t max_mappings = 1000;
/// What a provider's admission takes of one: others may ask for more than they get, and are told which they do not.
inline constexpr std::size_t max_mappings_taken = 2000;

/// What one NamespaceOffloading has to do with twins: of thousands no more is held.
struct TwinRequest {
  std::string local;                          ///< the namespace
  bool counts = false;                        ///< it has the right name and is not being deleted
  bool is_guarded = false;                    ///< it has our finalizer, so that it cannot go before its twins
  std::optional<NodeSelector> selector = {};  ///< nothing where it is invalid
  std::optional<std::string> remote = {};     ///< name of the twins; nothing where it can be none
  std::string by;                             ///< who selects by what: another text = somebody has said something else
  bool operator==(const TwinRequest&) const = default;
};
TwinRequest twin_request(const kube::Object& offloading, std::string_view local_cluster);

/// Local namespace to twin.
using WantedTwins = std::map<std::string, std::string, std::less<>>;

/// What is remembered of one provider between two looks. Losing it (restart) is harmless: a twin that no node is
/// selected for is then taken for one that lost its node to changed labels.
struct TwinMemory {
  struct Selection {
    std::string by;                             ///< the NamespaceOffloading and its selector, "" = not known
    std::set<std::string, std::less<>> nodes;   ///< the virtual nodes that it selected when it last selected any
    std::optional<kube::TimePoint> lost_since;  ///< since when it selects none, though nobody has said so
  };
  std::map<std::string, Selection, std::less<>> namespaces;
};

/// What the decision is about.
struct ObservedTwins {
  std::span<const TwinRequest* const> requests;
  std::span<const OfferedNode> nodes;  ///< of the provider
  const WantedTwins& current;          ///< what its NamespaceMap asks for
};

/// What goes into the decision beside the objects.
struct TwinRules {
  const NodeContext& node;
  kube::TimePoint now;
  kube::Duration grace;  ///< how long a twin stays that no node is selected for since labels have changed
};

struct TwinWish {
  WantedTwins twins;
  /// A namespace whose twin is kept for a while, because what happened to labels may be a mistake.
  struct Leaving {
    kube::Duration left;
    bool is_new = false;  ///< for the first time: to be told
  };
  std::map<std::string, Leaving> leaving;
};

/// The twins that a provider with these nodes is to have. A request that counts gets one once it is guarded. What
/// `current` has for a namespace is given up only where somebody says so: the NamespaceOffloading goes or has another
/// selector, or the virtual nodes that were selected go. An invalid selector or name keeps it, a Node that is missing
/// keeps it, and labels that have changed keep it for `rules.grace`.
/// Of more than max_mappings those that `current` has come first.
TwinWish wanted_twins(const ObservedTwins& observed, const TwinRules& rules, TwinMemory& memory);

/// The NamespaceMap to create in the tenant namespace of a provider: named after it, and marked for replication.
kube::Object forge_namespace_map(const kube::ObjectKey& key, std::string_view remote_cluster,
                                 const WantedTwins& wanted);
/// JSON merge patch, with the resourceVersion, that gives the map the labels of replication and these twins; nothing
/// where it has them.
std::optional<kube::json::object> plan_namespace_map(const kube::Object& map, std::string_view remote_cluster,
                                                     const WantedTwins& wanted);

}  // namespace liqo::core
