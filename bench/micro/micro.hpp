// A minimal benchmark runner: time, allocations and allocated bytes of one operation.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// The counters of operator new and delete since the program started.
struct Allocations {
  std::size_t count = 0;       ///< calls of operator new
  std::size_t bytes = 0;       ///< requested by them
  std::size_t live_bytes = 0;  ///< allocated from the heap and not freed, with the heap's rounding
};
Allocations allocations();

/// One line of the table, all per operation.
struct Result {
  std::string name;
  double nanoseconds = 0, allocations = 0, allocated_bytes = 0;
  std::string note;
};

class Runner {
 public:
  /// `only`: measures only the benchmarks with this text in their names; "" = all.
  explicit Runner(std::string only) : only_(std::move(only)) {}
  /// Calls `body` for about half a second in all and keeps the fastest of five parts, because the rest of the machine
  /// slows the others down. `body` does `operations` operations per call. `note` is appended to the line.
  void measure(std::string name, std::size_t operations, const std::function<void()>& body, std::string note = {});
  /// The table, for people.
  void print() const;
  /// The same as a JSON object, nanoseconds by name.
  void print_json() const;

 private:
  std::string only_;
  std::vector<Result> results_;
};

/// Keeps the compiler from dropping a value that is not used.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

void measure_admission(Runner& runner);
void measure_json(Runner& runner);
void measure_http2(Runner& runner);
void measure_queue(Runner& runner);
void measure_store(Runner& runner);
void measure_watch(Runner& runner);
void measure_webhook(Runner& runner);

}  // namespace bench
