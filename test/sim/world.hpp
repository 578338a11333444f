// A consumer, its providers, their daemons and a workload, all on one virtual clock and from one seed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster.hpp"
#include "fake_jobs.hpp"
#include "kube/testing/fake/replica_set.hpp"
#include "process_box.hpp"
#include "replication.hpp"

namespace liqo::sim {

/// The difficulties of a schedule; derived from the seed.
struct Difficulty {
  int providers = 1;
  int virtual_nodes = 1;             ///< of each provider
  bool tokens = false;               ///< offloaded pods get tokens for the home API server
  bool pairs = false;                ///< two replicas of each liqod, of which one leads
  kube::testing::FaultRates faults;  ///< of every link
  double actions_per_second = 0.3;   ///< of the chaos
  kube::Duration duration = std::chrono::seconds(90);
  bool calm = false;  ///< no faults: the writes are counted instead
};
Difficulty difficulty_of(std::uint64_t seed);

/// The volume with the files in which a pod reads about itself, and the variable with its UID.
inline constexpr std::string_view about_volume = "about", uid_variable = "POD_UID";
/// The files, and the fields in them: what the provider's pod has, too, and what travels for these files alone.
inline constexpr std::pair<std::string_view, std::string_view> fields_read[] = {
    {"app", "metadata.labels['app']"},
    {"edit", "metadata.labels['edit']"},
    {"note", "metadata.annotations['sim.example.com/note']"},
    {"liqo", "metadata.annotations['liqo.io/sim-note']"},
};
/// Has a pod of the workload read these fields.
void read_itself(json::object& pod);

/// Destroy only after stop() has returned true.
class World {
 public:
  explicit World(std::uint64_t seed);

  /// Creates the workload, and starts the daemons.
  void start();
  /// Ends every daemon; false if one does not end.
  bool stop();
  /// The liqod of that cluster, the first of a pair.
  ProcessBox& daemon(std::string_view cluster);
  /// The cluster with this name, home or provider.
  Cluster& cluster(std::string_view id);
  std::vector<kube::testing::SimLink*> links();
  void set_faults(const kube::testing::FaultRates& faults);

  const Difficulty difficulty;
  kube::testing::Simulator simulator;
  Cluster home;
  std::map<std::string, std::unique_ptr<Cluster>> providers;
  std::vector<std::unique_ptr<FakeGrants>> grants;             ///< of the providers
  std::map<std::string, std::unique_ptr<ProcessBox>> daemons;  ///< by cluster; the second of a pair behind "/b"
  std::unique_ptr<kube::testing::FakeReplicaSet> replicas;
  FakeJobs jobs;                ///< at home
  kube::TimePoint healed_at{};  ///< since when there are no faults any more
  /// By UID of a pod at home: how often its ShadowPod or remote pod was removed by others.
  std::map<std::string, int> losses;

 private:
  void add_daemon(const std::string& cluster, kube::testing::FakeApiServer& server,
                  const std::map<std::string, kube::testing::FakeApiServer*>& servers);
  static controllers::Settings settings_for(const Difficulty& difficulty, std::string_view cluster);
};

}  // namespace liqo::sim
