#include "kube/runtime/schedule.hpp"
#include "micro.hpp"

namespace bench {
namespace {

constexpr int keys = 1000;

std::vector<kube::WorkKey> make_keys(int groups) {
  std::vector<kube::WorkKey> made;
  for (int number = 0; number < keys; ++number)
    made.push_back({"milan-" + std::to_string(number % groups), {"bench", "pod-" + std::to_string(number)}});
  return made;
}

void work_through(const std::vector<kube::WorkKey>& all, kube::Schedule& schedule) {
  const kube::TimePoint now{};
  for (const kube::WorkKey& key : all) schedule.add(key, now);
  while (const auto key = schedule.pop(now)) schedule.done(*key, now);
}

}  // namespace

void measure_queue(Runner& runner) {
  for (const int groups : {1, 10}) {
    const auto all = make_keys(groups);
    kube::Schedule schedule({.workers = 64, .workers_per_group = 64});
    runner.measure(
        "queue: add, pop, done", keys, [&] { work_through(all, schedule); },
        "1,000 keys of " + std::to_string(groups) + (groups == 1 ? " group" : " groups"));
  }
  const auto all = make_keys(1);
  kube::Schedule schedule({.workers = 64, .workers_per_group = 64});
  for (const kube::WorkKey& key : all) schedule.add(key, kube::TimePoint{});
  runner.measure("queue: add of a key that is queued", keys, [&] {
    for (const kube::WorkKey& key : all) schedule.add(key, kube::TimePoint{});
  });
  runner.measure("queue: add_at, moved earlier", keys, [&, at = kube::TimePoint::max()]() mutable {
    at -= std::chrono::seconds(1);
    for (const kube::WorkKey& key : all) schedule.add_at(key, at);
  });
}

}  // namespace bench
