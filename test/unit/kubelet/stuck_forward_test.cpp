// The memory of a port-forward while neither side reads, counted on the heap. TLS is not included: its two connections
// take some 90 KiB more, and bench/README.md has the total.
#include <doctest/doctest.h>

#include "fakes.hpp"
#include "kube/async/task_group.hpp"
#include "kube/client/websocket_tunnel.hpp"
#include "kube/testing/allocated_bytes.hpp"
#include "kubelet/port_forward_server.hpp"

namespace {

using namespace liqo::kubelet;
using namespace std::chrono_literals;
namespace wire = kube::wire;
namespace asio = boost::asio;

std::uint32_t no_mask() { return 0; }

/// A peer that takes that many writes and then no more. It sends one answer after each of the first ones, and the same
/// bytes without end after the last.
struct Conversation {
  std::size_t takes;
  std::vector<std::string> answers;  // the one at i once i writes were taken
  std::string flood;
};

class Peer final : public kube::net::ByteStream {
 public:
  Peer(const asio::any_io_executor& executor, Conversation conversation)
      : conversation_(std::move(conversation)), taken_(executor), closed_(executor) {}

  asio::awaitable<kube::Result<std::size_t>> read_some(std::span<char> buffer) override {
    const std::size_t awaited = said_ < conversation_.answers.size() ? said_ : conversation_.takes;
    while (writes_ < awaited) {
      taken_.reset();
      co_await taken_.wait();
      if (closed_.is_set()) co_return 0;
    }
    if (said_ < conversation_.answers.size()) {
      const std::string& answer = conversation_.answers[said_++];
      std::copy(answer.begin(), answer.end(), buffer.begin());
      co_return answer.size();
    }
    const std::string& flood = conversation_.flood;
    for (char& place : buffer) {
      place = flood[at_];
      at_ = (at_ + 1) % flood.size();
    }
    co_return buffer.size();
  }
  asio::awaitable<kube::Result<void>> write(std::string_view) override {
    if (writes_ == conversation_.takes) {
      co_await closed_.wait();
      co_return kube::fail(kube::Errc::closed, "closed");
    }
    ++writes_;
    taken_.set();
    co_return kube::Result<void>();
  }
  void close() override {
    closed_.set();
    taken_.set();
  }

 private:
  Conversation conversation_;
  kube::async::Event taken_, closed_;
  std::size_t writes_ = 0, said_ = 0, at_ = 0;
};

std::string data_frame(char stream) {
  // 32 KiB, as Go's programs send it.
  return std::string({0, 0, 0, stream, 0, 0, '\x80', 0}) + std::string(32 << 10, 'x');
}

Conversation caller() {
  wire::SpdySession session(wire::SpdyRole::client);
  Conversation said{.takes = 2, .answers = {}, .flood = data_frame(3)};
  for (const char* type : {"error", "data"}) {
    REQUIRE(session.open({{"streamtype", type}, {"port", "80"}, {"requestid", "0"}}));
    said.answers.push_back(session.next_output().value());
  }
  return said;
}

/// Our error stream, its end and our data stream are taken; replies to both are received.
Conversation provider() {
  const auto message = [](const std::string& bytes) {
    wire::WebSocketCodec codec(wire::WebSocketRole::server, no_mask);
    codec.send(bytes);
    return codec.next_output().value();
  };
  const auto reply = [](char stream) { return std::string({'\x80', 3, 0, 2, 0, 0, 0, 4, 0, 0, 0, stream}); };
  return {.takes = 3,
          .answers = {message(""), message(reply(1)), message(""), message(reply(3))},
          .flood = message(data_frame(3))};
}

}  // namespace

TEST_CASE("a port-forward that is stuck both ways holds less than 150 KiB") {
  static constexpr std::size_t count = 20;
  kube::testing::Simulator simulator{1};
  simulator.run(
      [](kube::testing::Simulator& on) -> asio::awaitable<void> {
        std::vector<std::unique_ptr<kube::net::ByteStream>> callers, providers;
        for (std::size_t i = 0; i < count; ++i) {
          callers.push_back(std::make_unique<Peer>(on.executor(), caller()));
          providers.push_back(
              std::make_unique<kube::WebSocketTunnel>(std::make_unique<Peer>(on.executor(), provider()), no_mask));
        }
        std::size_t connected = 0;
        kube::async::TaskGroup group(on.executor());
        const std::size_t before = kube::testing::allocated_bytes();
        for (std::size_t i = 0; i < count; ++i) {
          ConnectPortForward connect = [&providers, &connected,
                                        i]() -> asio::awaitable<kube::Result<std::unique_ptr<kube::net::ByteStream>>> {
            ++connected;
            co_return std::move(providers[i]);
          };
          group.spawn(serve_port_forward(std::move(callers[i]), {.name = "rome/web", .connect = std::move(connect)},
                                         on.clock()));
        }
        // The clock moves only when nothing else can: by now everything is as full as it gets.
        co_await on.clock().sleep(1min);
        const std::size_t held = (kube::testing::allocated_bytes() - before) / count;
        CHECK(connected == count);
        CAPTURE(held);
        CHECK(held < 150 * 1024);
        co_await group.stop();
      }(simulator),
      1h);
}
