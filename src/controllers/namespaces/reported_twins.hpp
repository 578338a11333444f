// The states of each namespace's twins, as NamespaceMaps report them.
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

/// Reads all NamespaceMaps, and uses those that are ours. One thread.
class ReportedTwins {
 public:
  /// Called after a change. Neither may suspend.
  struct Handlers {
    /// The reported state of a namespace's twin has changed.
    std::function<void(const std::string& ns)> changed;
    /// It may have changed for every namespace. Also called after each list.
    std::function<void()> all_changed;
  };

  /// Lives as long as the handle, as a kube::View does. `offered` outlives it. Handlers are not called for maps that
  /// exist already.
  ReportedTwins(kube::InformerHandle& maps, const OfferedNodes& offered, Handlers handlers);
  ReportedTwins(const ReportedTwins&) = delete;
  ReportedTwins& operator=(const ReportedTwins&) = delete;

  /// The states of a namespace's twin, as reported by the NamespaceMaps that count.
  std::vector<core::ReportedTwin> of(const std::string& ns) const;
  /// The namespaces that wait for their twin in that cluster.
  std::vector<std::string> awaiting(std::string_view cluster) const;
  /// Finds out again which of the maps named after a cluster count: a peer may write maps in its own tenant namespace,
  /// and must not speak there for another cluster. Returns whether that has changed for any map.
  bool recount(std::string_view cluster);

 private:
  /// The entries of a NamespaceMap for one namespace each.
  struct Map {
    struct Twin {
      std::string asked;           ///< name of the requested twin, "" = none is requested
      std::string phase, message;  ///< as the provider reports them
      std::string kept;            ///< why the provider keeps it against our wish, "" = it does not
      bool operator==(const Twin&) const = default;
    };
    bool is_outgoing = false;  ///< to the cluster that it is named after
    bool is_deleting = false;
    std::size_t asked = 0;  ///< the number of namespaces for which it asks
    std::map<std::string, Twin, std::less<>> twins;
  };
  static Map map_of(const kube::Object& map);
  void map_changed(const kube::ObjectKey& key, const Map* before, const Map* now);

  const OfferedNodes& offered_;
  Handlers handlers_;
  std::set<kube::ObjectKey> counted_;  ///< the NamespaceMaps that count
  kube::View<Map> reported_;
};

}  // namespace liqo::controllers
