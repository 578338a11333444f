// Runs programs of `liqoctl volume` in pods of a cluster by exec: one alone, one whose output is the other's input, and
// two whose output is compared.
// Tested by test/cluster/tried/test_applications.py.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "session/cluster.hpp"

namespace liqoctl {

struct RemoteProgram {
  kube::ObjectKey pod;
  std::vector<std::string> command;
};

/// The output of the program, at most 64 KiB. Its standard error becomes the text of a failure or, if it succeeds, a
/// warning. The run is given up at the deadline. Errc::closed: the connection was cut, and the run may be tried again.
asio::awaitable<Result<std::string>> run_program(Cluster& cluster, kube::Deadline deadline, RemoteProgram program);

struct Pipe {
  RemoteProgram from, to;
  std::function<void(std::uint64_t)> seen;  ///< gets the number of bytes so far
};
/// The output of `to`, which reads the output of `from`. Failures are those of run_program().
asio::awaitable<Result<std::string>> pipe_program(Cluster& cluster, kube::Deadline deadline, Pipe pipe);

/// Compares the lists that two programs write, and returns how many files are in them. Failures: Errc::protocol with
/// the first line in which they differ.
asio::awaitable<Result<std::uint64_t>> compare_programs(Cluster& cluster, kube::Deadline deadline, RemoteProgram one,
                                                        RemoteProgram other);

}  // namespace liqoctl
