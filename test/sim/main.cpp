// The simulation: real controllers, simulated clusters, one schedule of faults per seed. See `test_sim --help`.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>

#include "chaos.hpp"
#include "invariants.hpp"
#include "kube/telemetry/log.hpp"
#include "workers.hpp"

namespace liqo::sim {

namespace {

using namespace std::chrono_literals;
using kube::testing::Simulator;

/// How long everything may take to settle once there are no faults any more, and how long it is watched then.
constexpr kube::Duration patience = 10min;
constexpr kube::Duration max_job = 130s;
constexpr kube::Duration rest = 60s;
/// Writes for one pod from its creation to its end, including those for tokens and for setting up virtual nodes.
constexpr double writes_per_pod = 10.0;
/// A pod that does not restart always costs one more write, which takes its finalizer off.
constexpr double writes_per_job = writes_per_pod + 1.0;

struct Options {
  std::uint64_t first = 0;
  std::uint64_t count = 1000;
  std::uint64_t jobs = 0;  ///< 0: as many as there are processors
  bool verbose = false;
  std::string traced;
};

void take(std::vector<Violation>& into, std::vector<Violation> more) {
  for (Violation& violation : more) into.push_back(std::move(violation));
}

void check_end(World& world, std::vector<Violation>& found) {
  std::string difference;
  for (kube::Duration waited{}; waited < patience; waited += 5s) {
    world.simulator.run_for(5s);
    difference = find_difference(world);
    if (difference.empty()) break;
  }
  for (auto& [name, daemon] : world.daemons)
    if (!daemon->crash().empty()) found.push_back({"liqod never ends by itself", name + " " + daemon->crash()});
  if (!difference.empty()) {
    found.push_back({"everything converges", difference});
    return;
  }
  // Jobs that still run end first.
  world.simulator.run_for(max_job);
  const kube::TimePoint settled = world.simulator.clock().now();
  world.simulator.run_for(rest);
  if (const auto writes = list_writes(world, settled); !writes.empty())
    found.push_back({"what has converged is quiet", std::to_string(writes.size()) + " writes in " +
                                                        std::to_string(rest / 1s) + " s at rest, first " + writes[0]});
  if (difference = find_difference(world); !difference.empty())
    found.push_back({"everything converges", "and stays: " + difference});
}

/// Whether a line of list_writes() is about pods and their nodes, and not about what is replicated.
bool is_for_pods(const std::string& write) {
  for (const char* plural :
       {" foreignclusters ", " resourceslices ", " renews ", " namespacemaps ", " namespaceoffloadings ",
        " namespaces ", " rolebindings ", " resourcequotas ", "/liqo-heartbeat", "/kubeconfig-"})
    if (write.find(plural) != std::string::npos) return false;
  return true;
}

/// Ends the replication of a world that has converged: nothing of it may be left on either side.
void check_unpeering(World& world, std::vector<Violation>& found) {
  end_replication(world);
  std::string leftover;
  for (kube::Duration waited{}; waited < patience; waited += 5s) {
    world.simulator.run_for(5s);
    leftover = find_replication_leftover(world);
    if (leftover.empty()) return;
  }
  found.push_back({"nothing is orphaned", leftover});
}

/// Runs one schedule. `log` gets its actions, for failing seeds.
std::vector<Violation> run_schedule(std::uint64_t seed, const std::string& traced, std::vector<std::string>& log) {
  auto world = std::make_unique<World>(seed);
  auto chaos = std::make_unique<Chaos>(*world);
  std::vector<Violation> found;
  world->start();
  try {
    world->simulator.run(chaos->run(), 1h);
  } catch (const std::exception& error) {
    found.push_back({"every process can be restarted", error.what()});
  }
  log = chaos->log();
  if (!found.empty()) {
    // Coroutines that hang still use both, so neither is destroyed.
    (void)chaos.release();
    (void)world.release();
    return found;
  }
  check_end(*world, found);
  take(found, check_history(*world));
  take(found, check_replication_history(*world));
  take(found, check_namespaces(*world));
  take(found, check_jobs(*world));
  for (auto& [name, daemon] : world->daemons) take(found, daemon->check_requests());
  if (!traced.empty())
    for (std::string& line : trace(*world, traced)) log.push_back(std::move(line));
  if (world->difficulty.calm) {
    double most = 0;
    for (const auto& change : world->home.server.store().table(kube::resources::pods).log)
      if (change.type == kube::testing::ChangeType::added)
        most += kube::string_at(*change.after, {"spec", "restartPolicy"}) == "Always" ? writes_per_pod : writes_per_job;
    const auto writes = list_writes(*world);
    const auto of_pods = std::ranges::count_if(writes, is_for_pods);
    if (static_cast<double>(of_pods) > most)
      found.push_back({"writes are few", std::to_string(of_pods) + " for pods without faults, not " +
                                             std::to_string(static_cast<int>(most)) + " at most"});
  }
  if (found.empty()) check_unpeering(*world, found);
  if (!world->stop()) {
    found.push_back({"every process can be stopped", "one does not end"});
    (void)world.release();
  }
  return found;
}

/// One schedule, and its report.
Outcome report(std::uint64_t seed, const Options& options) {
  std::vector<std::string> log;
  const std::vector<Violation> found = run_schedule(seed, options.traced, log);
  Outcome outcome{!found.empty(), {}};
  if (options.verbose)
    for (const std::string& line : log) outcome.text += "  " + line + '\n';
  for (const Violation& violation : found)
    outcome.text += "seed " + std::to_string(seed) + ": " + violation.invariant + ": " + violation.what + '\n';
  return outcome;
}

int run(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t failed = 0;
  const auto take = [&failed](const Outcome& outcome) {
    std::cout << outcome.text << std::flush;
    failed += outcome.failed;
  };
  if (options.jobs == 1 || options.count == 1) {
    for (std::uint64_t i = 0; i < options.count; ++i) take(report(options.first + i, options));
  } else {
    const auto jobs =
        static_cast<unsigned>(options.jobs > 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency()));
    run_in_workers(options.first, options.count, jobs, [&](std::uint64_t seed) { return report(seed, options); }, take);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::cout << options.count << " schedules in " << took.count() << " s; replay one with --seed N --verbose\n";
  failed = std::min(failed, options.count);
  std::cout << options.count - failed << " passed, " << failed << " failed, 0 skipped" << std::endl;
  return failed > 0 ? 1 : 0;
}

constexpr std::string_view usage =
    "test_sim [--seeds COUNT] [--first SEED] [--seed SEED] [--jobs N] [--verbose] [--trace NAME]\n"
    "  --seeds COUNT  how many schedules to run (1000)\n"
    "  --first SEED   the seed of the first one (0)\n"
    "  --seed SEED    run this one alone\n"
    "  --jobs N       how many to run at once, each in its process (as many as processors); 1: in this process\n"
    "  --verbose      show what happened in each schedule, and the logs of the daemons\n"
    "  --trace NAME   as --verbose, and every change of the objects whose names start so\n";

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--verbose") {
      options.verbose = true;
      continue;
    }
    if (i + 1 == argc) return false;
    const std::string_view text = argv[++i];
    if (flag == "--trace") {
      options.traced = text;
      options.verbose = true;
      continue;
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return false;
    if (flag == "--seeds") {
      options.count = value;
    } else if (flag == "--jobs" && value > 0 && value <= 1024) {
      options.jobs = value;
    } else if (flag == "--first") {
      options.first = value;
    } else if (flag == "--seed") {
      options.first = value;
      options.count = 1;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace liqo::sim

int main(int argc, char** argv) {
  liqo::sim::Options options;
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    std::cout << liqo::sim::usage;
    return 0;
  }
  if (!liqo::sim::parse(argc, argv, options)) {
    std::cerr << liqo::sim::usage;
    return 2;
  }
  kube::configure_logging(options.verbose ? kube::LogLevel::debug : kube::LogLevel::error, kube::LogFormat::text);
  return liqo::sim::run(options);
}
