// The API server in memory behind a real socket.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/async/clock.hpp"
#include "kube/net/http/http_server.hpp"
#include "kube/testing/fake/api_server.hpp"
#include "kube/testing/fake/garbage_collector.hpp"
#include "kube/testing/fake/kubelet.hpp"
#include "kube/testing/fake/scheduler.hpp"
#include "kube/testing/sim/simulator.hpp"

namespace kube::testserver {

namespace asio = boost::asio;

struct TestServerSettings {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;                ///< 0 = the system picks one
  std::uint64_t seed = 1;                ///< of UIDs, and of how long pods take
  std::vector<testing::FakeKind> kinds;  ///< beside the built-in ones
  bool runs_pods = false;                ///< there is a Node, a scheduler and a kubelet
};

/// Serves plain HTTP/1.1 to whoever asks. What time alone does (watches that end, pods that start, dependents of what
/// is deleted) happens in real time. One thread.
class TestServer {
 public:
  TestServer(const asio::any_io_executor& executor, async::Clock& clock, TestServerSettings settings);

  /// Opens the port and returns its number. Errors: as net::HttpServer::listen().
  Result<std::uint16_t> listen() { return http_.listen(); }
  /// Serves until SIGINT or SIGTERM, and throws what ends it before.
  asio::awaitable<void> run();

 private:
  asio::awaitable<void> answer(const net::ServerRequest& request, net::ServerResponse& response);
  asio::awaitable<void> stream(testing::FakeWatch& watch, net::ServerResponse& response);
  /// Brings the simulated cluster up to now.
  void catch_up();
  asio::awaitable<void> keep_time();

  asio::any_io_executor executor_;
  async::Clock& clock_;
  TimePoint began_;
  testing::Simulator simulator_;
  TimePoint simulated_from_;
  testing::FakeApiServer server_;
  testing::FakeGarbageCollector collector_;
  std::unique_ptr<testing::FakeScheduler> scheduler_;
  std::unique_ptr<testing::FakeKubelet> kubelet_;
  net::HttpServer http_;
};

}  // namespace kube::testserver
