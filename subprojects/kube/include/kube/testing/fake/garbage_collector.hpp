// The garbage collector of a simulated cluster: objects that lose their owners are deleted, after a delay.
#pragma once

#include <map>
#include <set>
#include <string>

#include "kube/testing/fake/api_server.hpp"
#include "kube/testing/sim/simulator.hpp"

namespace kube::testing {

/// Background, foreground (for dependents that block) and orphan deletion by ownerReferences' UIDs. Attached to its
/// server for good; must live as long as the simulator runs.
class FakeGarbageCollector {
 public:
  FakeGarbageCollector(Simulator& simulator, FakeApiServer& server, Duration delay_low = std::chrono::milliseconds(5),
                       Duration delay_high = std::chrono::milliseconds(500));

 private:
  /// The kind, by plural, group and version, and the key: an order that does not depend on addresses.
  using Place = std::pair<std::string, ObjectKey>;
  void seen(const FakeChange& change);
  void attend_later(const Place& place);
  void attend(const Place& place);
  void finish_foreground(const Place& place, const json::object& object);
  void orphan_dependents(const Place& place, const json::object& object);
  void drop_finalizer(const Place& place, std::string_view finalizer);
  const json::object* object_at_place(const Place& place) const;
  Resource resource_of(const Place& place) const;

  Simulator& simulator_;
  FakeApiServer& server_;
  Duration delay_low_, delay_high_;
  Random random_;
  std::map<std::string, FakeTable*> tables_;
  std::map<std::string, Place> live_;                  ///< by UID
  std::map<std::string, std::set<Place>> dependents_;  ///< by the owner's UID
};

}  // namespace kube::testing
