#include "test_server.hpp"

#include <algorithm>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "kube/async/event.hpp"
#include "kube/async/task_group.hpp"

namespace kube::testserver {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view node_name = "node-1";
/// How often the simulated clock is brought up to the real one.
constexpr Duration step = 20ms;
/// How often a watch without changes is asked whether it has ended or has a bookmark.
constexpr Duration idle_look = 1s;

net::HttpServerOptions http_options(const TestServerSettings& settings) {
  net::HttpServerOptions options;
  options.address = settings.address;
  options.port = settings.port;
  return options;
}

json::object node() {
  const json::object ready{{"type", "Ready"}, {"status", "True"}, {"reason", "KubeletReady"}};
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", json::object{{"name", node_name}}},
          {"status", json::object{{"conditions", json::array{ready}}}}};
}

asio::awaitable<void> end_by_signal(async::TaskGroup& group) {
  asio::signal_set signals(co_await asio::this_coro::executor, SIGINT, SIGTERM);
  co_await signals.async_wait(asio::use_awaitable);
  group.cancel();
}

}  // namespace

TestServer::TestServer(const asio::any_io_executor& executor, async::Clock& clock, TestServerSettings settings)
    : executor_(executor),
      clock_(clock),
      began_(clock.now()),
      simulator_(settings.seed, clock.wall()),
      simulated_from_(simulator_.clock().now()),
      server_(simulator_.clock(), settings.seed),
      collector_(simulator_, server_),
      http_(executor, clock, http_options(settings),
            [this](const net::ServerRequest& request, net::ServerResponse& response) {
              return answer(request, response);
            }) {
  for (testing::FakeKind& kind : settings.kinds) server_.serve(std::move(kind));
  for (const char* name : {"default", "kube-system"})
    static_cast<void>(server_.create(resources::namespaces, {{"metadata", json::object{{"name", name}}}}, "system"));
  if (!settings.runs_pods) return;
  static_cast<void>(server_.create(resources::nodes, node(), "kubelet"));
  scheduler_ = std::make_unique<testing::FakeScheduler>(simulator_, server_,
                                                        [](const json::object&) { return std::string(node_name); });
  kubelet_ = std::make_unique<testing::FakeKubelet>(
      simulator_, server_, testing::FakeKubeletSettings{.node_prefix = std::string(node_name)});
}

void TestServer::catch_up() {
  const Duration behind = (clock_.now() - began_) - (simulator_.clock().now() - simulated_from_);
  if (behind > Duration::zero()) simulator_.run_for(behind);
}

asio::awaitable<void> TestServer::keep_time() {
  while (true) {
    co_await clock_.sleep(step);
    catch_up();
  }
}

asio::awaitable<void> TestServer::run() {
  async::TaskGroup group(executor_);
  group.spawn(keep_time());
  group.spawn(http_.serve());
  group.spawn(end_by_signal(group));
  co_await group.join();
}

asio::awaitable<void> TestServer::answer(const net::ServerRequest& request, net::ServerResponse& response) {
  const std::string_view type = request.header("content-type");
  if (!request.body.empty() && (type.contains("protobuf") || type.contains("cbor"))) {
    const testing::Refusal refusal{.code = 415,
                                   .reason = "UnsupportedMediaType",
                                   .message = "this API server reads JSON, not " + std::string(type),
                                   .details = {}};
    static_cast<void>(co_await response.send(refusal.code, {{"content-type", "application/json"}},
                                             json::serialize(refusal.document())));
    co_return;
  }
  catch_up();
  const HttpRequest asked{
      .method = request.method, .target = request.target, .headers = request.headers, .body = request.body};
  testing::FakeAnswer made = server_.handle(asked, "test");
  if (std::ranges::none_of(made.headers, [](const auto& header) { return header.first == "content-type"; }))
    made.headers.emplace_back("content-type", "application/json");
  if (!made.watch) {
    static_cast<void>(co_await response.send(made.status, std::move(made.headers), std::move(made.body)));
    co_return;
  }
  if (auto started = co_await response.start(made.status, std::move(made.headers)); started)
    co_await stream(*made.watch, response);
}

asio::awaitable<void> TestServer::stream(testing::FakeWatch& watch, net::ServerResponse& response) {
  async::Event changed(executor_);
  watch.on_wake([&changed] { changed.set(); });
  response.be_patient();
  while (true) {
    changed.reset();
    while (auto line = watch.next())
      if (auto written = co_await response.write(*line); !written) co_return;
    if (watch.ended()) co_return;
    co_await changed.wait_for(clock_, idle_look);
  }
}

}  // namespace kube::testserver
