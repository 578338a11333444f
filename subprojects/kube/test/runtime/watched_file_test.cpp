#include "kube/runtime/watched_file.hpp"

#include <doctest/doctest.h>

#include "kube/async/task_group.hpp"
#include "kube/testing/sim/simulator.hpp"
#include "support/temporary_directory.hpp"

using namespace kube;
using namespace std::chrono_literals;
namespace asio = boost::asio;

TEST_CASE("a file is read as it is, and what was put in its place is handed over") {
  testing::Simulator simulator{1};
  testing::VirtualClock& clock = simulator.clock();
  const test::TemporaryDirectory directory;
  const auto write = [&directory](const std::string& text) { directory.write("file", text); };
  WatchedFile file(clock, directory.at("file"), 30s);
  CHECK(file.read().error().code() == Errc::missing);
  CHECK(file.read().error().text() == "there is no file " + directory.at("file"));
  write("");
  CHECK(file.read().error().code() == Errc::missing);
  CHECK(file.read().error().text() == directory.at("file") + " is empty");
  write(std::string((1 << 20) + 1, 'x'));
  CHECK(file.read().error().code() == Errc::too_large);
  write("one");
  CHECK(file.read().value() == "one");
  std::string last;
  const auto story = [&]() -> asio::awaitable<void> {
    async::TaskGroup group(simulator.executor());
    group.spawn(file.watch([&last](std::string text) { last = std::move(text); }));
    write("two");
    co_await clock.sleep(31s);
    CHECK(last == "two");
    directory.remove("file");
    co_await clock.sleep(31s);
    CHECK(last == "two");
    write("three");
    co_await clock.sleep(31s);
    CHECK(last == "three");
    co_await group.stop();
  };
  simulator.run(story());
}
