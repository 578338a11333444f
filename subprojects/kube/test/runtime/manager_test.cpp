#include "kube/runtime/manager.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <stdexcept>

#include "kube/runtime/controller.hpp"
#include "runtime_fixture.hpp"

using namespace kube;
using namespace kube::testing;
using namespace std::chrono_literals;

namespace {

/// A process with a manager, of which it counts what runs.
class Process {
 public:
  Process(RuntimeFixture& world, const std::string& name, bool elects)
      : simulator_(world.simulator),
        link_(world.simulator, world.server, name),
        manager({world.simulator.executor(), world.simulator.clock(), random_, metrics_}, transport_,
                settings(name, elects)) {
    manager.add([this] { return work(leading); });
    manager.add_always([this] { return work(always); });
  }
  ~Process() { simulator_.run(group_.stop()); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void start() { group_.spawn(manager.run()); }
  void stop() { simulator_.run(group_.stop()); }
  SimLink& link() { return link_; }
  /// Has a controller reconcile one key again and again, which takes three seconds each time.
  void reconcile() {
    controller_.emplace(manager.environment(), ControllerSettings{.name = "steps"},
                        [this](WorkKey) { return take_steps(); });
    controller_->enqueue({"", {"d", "a"}});
    manager.add([this] { return controller_->run(); });
  }
  /// "", or the code of the failure of a write.
  std::string write(Api& api, const std::string& name) {
    std::string how;
    simulator_.run([](Api& by, std::string of, std::string& out) -> asio::awaitable<void> {
      const auto made = co_await by.create(widgets, Object::make(widgets, {"d", std::move(of)}));
      if (!made) out = to_string(made.error().code());
    }(api, name, how));
    return how;
  }

 private:
  static ManagerSettings settings(const std::string& name, bool elects) {
    ManagerSettings made{.cluster = "milan", .source = {}};
    if (elects) made.election = LeaderElectionSettings{.lease = {"d", "example"}, .identity = name};
    return made;
  }
  asio::awaitable<Outcome> take_steps() {
    for (int i = 0; i < 15; ++i) {
      co_await simulator_.clock().sleep(200ms);
      ++steps;
      if (!manager.leadership().may_write()) ++steps_without_lead;
    }
    ++reconciled;
    co_return Outcome::again_after(1ms);
  }
  asio::awaitable<void> work(int& running) {
    struct Running {
      explicit Running(int& of) : count(of) { ++count; }
      ~Running() { --count; }
      Running(const Running&) = delete;
      Running& operator=(const Running&) = delete;
      int& count;
    };
    const Running here(running);
    while (true) co_await simulator_.clock().sleep(1h);
  }

  Simulator& simulator_;
  SimLink link_;
  SimTransport transport_{link_};
  Random random_{1};
  Metrics metrics_;

 public:
  int leading = 0, always = 0;
  int steps = 0, steps_without_lead = 0, reconciled = 0;
  Manager manager;

 private:
  std::optional<Controller> controller_;
  async::TaskGroup group_{simulator_.executor(), async::TaskGroup::OnFailure::keep_others};
};

}  // namespace

TEST_CASE("a manager without election leads from the start, and cancels what it runs when it is stopped") {
  RuntimeFixture w;
  Process only(w, "only", false);
  only.start();
  REQUIRE(w.reaches([&] { return only.leading == 1 && only.always == 1; }));
  CHECK(only.write(only.manager.api(), "a") == "");
  only.stop();
  CHECK(only.leading == 0);
  CHECK(only.always == 0);
}

TEST_CASE("of two managers the one that leads works and writes, and the other one takes over when it stops") {
  RuntimeFixture w;
  Process first(w, "first", true), second(w, "second", true);
  first.start();
  REQUIRE(w.reaches([&] { return first.leading == 1; }));
  second.start();
  w.pass(10min);
  CHECK(first.leading == 1);
  CHECK(second.leading == 0);
  CHECK(second.always == 1);
  CHECK(first.write(first.manager.api(), "a") == "");
  CHECK(second.write(second.manager.api(), "b") == "stopped");
  CHECK(second.write(second.manager.open_api(), "c") == "");
  first.stop();
  CHECK(w.reaches([&] { return second.leading == 1; }));
  CHECK(second.write(second.manager.api(), "b") == "");
}

TEST_CASE("a reconcile ends at once where leadership is lost, and has its grace where the process stops") {
  RuntimeFixture w;
  Process only(w, "only", true);
  only.reconcile();
  only.start();
  REQUIRE(w.reaches([&] { return only.reconciled == 2 && only.steps % 15 == 5; }));
  only.link().partition();
  REQUIRE(w.reaches([&] { return !only.manager.leadership().is_leader(); }));
  const int steps = only.steps;
  w.pass(20s);
  CHECK(only.steps == steps);
  CHECK(only.steps_without_lead == 0);
  only.link().heal();
  // What was cut short is taken up again.
  REQUIRE(w.reaches([&] { return only.steps == steps + 3; }));
  const int reconciled = only.reconciled;
  only.stop();
  CHECK(only.reconciled == reconciled + 1);
}

TEST_CASE("what a part of a manager throws is thrown by run()") {
  RuntimeFixture w;
  Process only(w, "only", false);
  only.manager.add_always([]() -> asio::awaitable<void> {
    throw std::runtime_error("a bug");
    co_return;
  });
  std::string thrown;
  w.simulator.run([](Manager& manager, std::string& out) -> asio::awaitable<void> {
    try {
      co_await manager.run();
    } catch (const std::runtime_error& error) {
      out = error.what();
    }
  }(only.manager, thrown));
  CHECK(thrown == "a bug");
  CHECK(only.leading == 0);
}
