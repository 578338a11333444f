#include "test_server.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "support/run.hpp"

namespace {

using namespace kube;

/// Tells the time, and nobody can wait for it.
class BrokenClock final : public async::Clock {
 public:
  TimePoint now() const override { return real_.now(); }
  WallTime wall() const override { return real_.wall(); }
  async::Alarm call_at(const async::asio::any_io_executor&, TimePoint, std::function<void()>) override {
    throw std::runtime_error("the clock is broken");
  }
  void cancel(const async::Alarm&) override {}

 private:
  async::RealClock real_;
};

}  // namespace

TEST_CASE("a server whose time cannot go on ends by what was thrown, without a signal") {
  boost::asio::io_context io(1);
  BrokenClock clock;
  testserver::TestServer server(io.get_executor(), clock, {});
  REQUIRE(server.listen());
  CHECK_THROWS_WITH(kube::test::run(io, server.run()), "the clock is broken");
}
