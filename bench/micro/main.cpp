// tools/bench micro: the costs of the building blocks.
#include <chrono>
#include <cstdio>
#include <string_view>
#include <utility>

#include "micro.hpp"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int parts = 5;
constexpr auto time_per_part = std::chrono::milliseconds(100);

double nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

}  // namespace

void Runner::measure(std::string name, std::size_t operations, const std::function<void()>& body, std::string note) {
  if (!name.contains(only_)) return;
  body();
  Result result{.name = std::move(name), .note = std::move(note)};
  for (int part = 0; part < parts; ++part) {
    const Allocations before = allocations();
    const auto start = Clock::now();
    std::size_t calls = 0;
    do {
      body();
      ++calls;
    } while (Clock::now() - start < time_per_part);
    const auto done = double(calls * operations);
    const double nanoseconds = nanoseconds_since(start) / done;
    if (part > 0 && nanoseconds >= result.nanoseconds) continue;
    const Allocations after = allocations();
    result.nanoseconds = nanoseconds;
    result.allocations = double(after.count - before.count) / done;
    result.allocated_bytes = double(after.bytes - before.bytes) / done;
  }
  results_.push_back(std::move(result));
}

void Runner::print() const {
  std::printf("%-44s %10s %12s %10s %12s  %s\n", "operation", "ns/op", "op/s", "allocs/op", "bytes/op", "");
  for (const Result& result : results_)
    std::printf("%-44s %10.0f %12.0f %10.1f %12.0f  %s\n", result.name.c_str(), result.nanoseconds,
                1e9 / result.nanoseconds, result.allocations, result.allocated_bytes, result.note.c_str());
}

void Runner::print_json() const {
  std::string_view before = "{";
  for (const Result& result : results_) {
    std::printf("%.*s\"%s\": %.0f", int(before.size()), before.data(), result.name.c_str(), result.nanoseconds);
    before = ", ";
  }
  std::puts("}");
}

}  // namespace bench

/// Arguments: [--json] [PART-OF-A-NAME]
int main(int argc, char** argv) {
  const bool as_json = argc > 1 && std::string_view(argv[1]) == "--json";
  const int named = as_json ? 2 : 1;
  bench::Runner runner(argc > named ? argv[named] : "");
  bench::measure_json(runner);
  bench::measure_watch(runner);
  bench::measure_http2(runner);
  bench::measure_queue(runner);
  bench::measure_store(runner);
  bench::measure_admission(runner);
  bench::measure_webhook(runner);
  if (as_json) {
    runner.print_json();
  } else {
    runner.print();
  }
  return 0;
}
