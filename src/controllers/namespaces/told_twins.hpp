// What NamespaceMaps tell of the twins of each namespace.
// Tested by test/unit/controllers/namespaces/held_twins_test.cpp.
// Tested by test/unit/controllers/namespaces/crowd_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/namespaces/offered_nodes.hpp"
#include "core/namespaces/twin_states.hpp"
#include "kube/runtime/view.hpp"

namespace liqo::controllers {

/// Reads all NamespaceMaps, and counts those that are ours. One thread.
class ToldTwins {
 public:
  /// What is called after a change. Neither may suspend.
  struct Handlers {
    /// Something else is told of the twin of a namespace.
    std::function<void(const std::string& ns)> changed;
    /// That may be so for every namespace. Also called after each list.
    std::function<void()> all_changed;
  };

  /// Ends with the handle, as a kube::View. `offered` outlives it. Of what is there already nothing is told.
  ToldTwins(kube::InformerHandle& maps, const OfferedNodes& offered, Handlers handlers);
  ToldTwins(const ToldTwins&) = delete;
  ToldTwins& operator=(const ToldTwins&) = delete;

  /// What the NamespaceMaps that count say of the twin of a namespace.
  std::vector<core::ToldTwin> of(const std::string& ns) const;
  /// The namespaces that wait for their twin in that cluster.
  std::vector<std::string> awaiting(std::string_view cluster) const;
  /// Finds out anew which of the maps named after a cluster count: a peer may write maps in its own tenant namespace,
  /// where it has no say about another cluster. Answers whether one has begun to count, or does not any more.
  bool recount(std::string_view cluster);

 private:
  /// What a NamespaceMap says of each namespace.
  struct Map {
    struct Twin {
      std::string asked;           ///< name of the twin that is asked for, "" = none is
      std::string phase, message;  ///< the provider's words
      std::string kept;            ///< why the provider keeps it against our wish, "" = it does not
      bool operator==(const Twin&) const = default;
    };
    bool is_outgoing = false;  ///< to the cluster that it is named after
    bool is_deleting = false;
    std::size_t asked = 0;  ///< for how many namespaces it asks
    std::map<std::string, Twin, std::less<>> twins;
  };
  static Map map_of(const kube::Object& map);
  void map_changed(const kube::ObjectKey& key, const Map* before, const Map* now);

  const OfferedNodes& offered_;
  Handlers handlers_;
  std::set<kube::ObjectKey> counted_;  ///< the NamespaceMaps that count
  kube::View<Map> told_;
};

}  // namespace liqo::controllers
