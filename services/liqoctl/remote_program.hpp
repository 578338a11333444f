// Programs of `liqoctl volume` that run in pods of a cluster, by exec: one alone, one whose output is another one's
// input, and two whose output is compared.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cluster.hpp"

namespace liqoctl {

struct RemoteProgram {
  kube::ObjectKey pod;
  std::vector<std::string> command;
};

/// What it has written, at most 64 KiB. Failures: also what it has said on its standard error where it has failed. What
/// it says there and succeeds is a warning. All of these are given up at the deadline. Errc::closed: the connection has
/// ended, and it may be tried again.
asio::awaitable<Result<std::string>> run_program(Cluster& cluster, kube::Deadline deadline, RemoteProgram program);

struct Pipe {
  RemoteProgram from, to;
  std::function<void(std::uint64_t)> seen;  ///< is told how much has passed so far
};
/// Likewise of the program that gets what the other one writes.
asio::awaitable<Result<std::string>> pipe_program(Cluster& cluster, kube::Deadline deadline, Pipe pipe);

/// Of two lists: how many files there are. Failures: Errc::protocol with the first line in which they differ.
asio::awaitable<Result<std::uint64_t>> compare_programs(Cluster& cluster, kube::Deadline deadline, RemoteProgram one,
                                                        RemoteProgram other);

}  // namespace liqoctl
