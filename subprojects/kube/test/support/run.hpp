// Runs one coroutine to its end on a loop of its own; what it throws is thrown here, in the test.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <optional>

namespace kube::test {

namespace asio = boost::asio;

inline void run(asio::io_context& io, asio::awaitable<void> coroutine) {
  std::exception_ptr failure;
  asio::co_spawn(io, std::move(coroutine), [&failure](std::exception_ptr thrown) { failure = std::move(thrown); });
  io.run();
  io.restart();
  if (failure) std::rethrow_exception(failure);
}

inline void run(asio::awaitable<void> coroutine) {
  asio::io_context io(1);
  run(io, std::move(coroutine));
}

}  // namespace kube::test
