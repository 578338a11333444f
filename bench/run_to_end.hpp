// Runs the one coroutine of a bare client, and prints its failure.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <iostream>
#include <string_view>

#include "kube/async/task_group.hpp"
#include "kube/base/failure.hpp"

namespace liqo::bench {

/// Runs it on this thread. Returns the exit code of the program with this name.
inline int run_to_end(std::string_view program, boost::asio::io_context& io,
                      boost::asio::awaitable<kube::Result<void>> work) {
  kube::Result<void> ended;
  std::exception_ptr thrown;
  boost::asio::co_spawn(io, std::move(work), [&](std::exception_ptr exception, kube::Result<void> result) {
    thrown = std::move(exception);
    ended = std::move(result);
  });
  io.run();
  if (!thrown && ended) return 0;
  std::cerr << program << ": " << (thrown ? kube::async::describe(thrown) : ended.error().text()) << "\n";
  return 1;
}

}  // namespace liqo::bench
