#include "kubelet/port_forward_server.hpp"

#include <array>
#include <boost/asio/this_coro.hpp>

#include "kube/async/event.hpp"
#include "kube/async/finally.hpp"
#include "kube/async/task_group.hpp"
#include "kube/client/signs_of_life.hpp"

namespace liqo::kubelet {
namespace {

using namespace std::chrono_literals;
using kube::async::Event;
using kube::async::TaskGroup;
using Side = kube::wire::ForwardSide;

constexpr std::array<std::string_view, 1> protocols = {"portforward.k8s.io"};
constexpr std::size_t read_size = 16 * std::size_t{1024};
// How long our last frames may take, and how long we then go on reading from a caller that still sends: closing a
// socket with unread bytes would destroy data that the caller has not read yet. To a provider only the goodbye is sent.
constexpr kube::Duration max_sending = 10s;
constexpr kube::Duration max_listening = 2s;
constexpr kube::Duration max_goodbye = 1s;

Side other(Side side) { return side == Side::caller ? Side::provider : Side::caller; }

/// One caller's connection, and ours to the provider once there is one.
class PortForward {
 public:
  PortForward(const asio::any_io_executor& executor, kube::async::Clock& clock,
              std::unique_ptr<kube::net::ByteStream> stream, ForwardedPod pod, PortForwardLimits limits)
      : clock_(clock),
        connect_(std::move(pod.connect)),
        limits_(limits),
        relay_(std::move(pod.name), limits.forwards),
        caller_(executor, clock.now()),
        provider_(executor, clock.now()),
        wanted_(executor),
        timed_(executor),
        over_(executor),
        group_(executor) {
    caller_.stream = std::move(stream);
  }

  asio::awaitable<void> run() {
    start(Side::caller, limits_.ping_caller);
    group_.spawn(guarded(reach_provider()));
    group_.spawn(guarded(keep_time()));
    co_await kube::async::finally(wait_for_end(), stop());
  }

 private:
  struct Peer {
    Peer(const asio::any_io_executor& executor, kube::TimePoint now)
        : output(executor), room(executor), sent(executor), left(executor), life(now) {}
    std::unique_ptr<kube::net::ByteStream> stream;
    Event output;             // there is something to send
    Event room;               // less waits to be sent, to either peer
    Event sent;               // everything has been sent
    Event left;               // nothing more is read
    std::size_t sending = 0;  // bytes of the frame that is under way
    bool broken = false;      // the connection is of no more use
    kube::SignsOfLife life;
  };
  Peer& peer(Side side) { return side == Side::caller ? caller_ : provider_; }

  void start(Side side, kube::Duration ping_every) {
    group_.spawn(guarded(read_loop(side)));
    group_.spawn(guarded(write_loop(side)));
    if (ping_every > kube::Duration::zero()) group_.spawn(guarded(keep_alive(side, ping_every)));
  }

  /// A task that throws stops the others: the session has to end with them.
  asio::awaitable<void> guarded(asio::awaitable<void> work) {
    try {
      co_await std::move(work);
    } catch (...) {
      end("an internal error");
      throw;
    }
  }

  asio::awaitable<void> wait_for_end() {
    co_await over_.wait();
    co_await farewell();
  }

  asio::awaitable<void> stop() {
    end("the session was stopped");
    caller_.stream->close();
    if (provider_.stream) provider_.stream->close();
    co_await group_.stop();
  }

  /// Wakes the tasks that the change of the relay concerns.
  void changed() {
    caller_.output.set();
    provider_.output.set();
    if (relay_.wants_provider()) wanted_.set();
    if (relay_.next_deadline() < timed_until_) timed_.set();
  }

  void end(std::string_view why) {
    if (over_.is_set()) return;
    relay_.close(why);
    for (Peer* one : {&caller_, &provider_}) {
      one->sent.reset();
      one->room.set();
    }
    changed();
    over_.set();
  }

  /// Sends the goodbyes after the queued frames, the provider's first, so that its streams end at once.
  asio::awaitable<void> farewell() {
    if (provider_.stream) {
      if (!provider_.broken) co_await provider_.sent.wait_for(clock_, max_goodbye);
      provider_.stream->close();
    }
    if (caller_.broken) co_return;
    const bool sent = co_await caller_.sent.wait_for(clock_, max_sending);
    if (sent && !relay_.has_left(Side::caller)) co_await caller_.left.wait_for(clock_, max_listening);
  }

  /// Bytes that a peer has not taken yet.
  std::size_t waiting(Side side) const {
    return relay_.pending_output(side) + (side == Side::caller ? caller_ : provider_).sending;
  }
  /// Whether one more read from a peer could overfill the other one's buffer, or much waits for the peer itself: it may
  /// ask for answers and not read them.
  bool is_full(Side side) const {
    return waiting(other(side)) + read_size > limits_.max_buffer || waiting(side) >= 2 * limits_.max_buffer;
  }

  asio::awaitable<void> read_loop(Side side) {
    Peer& from = peer(side);
    Peer& to = peer(other(side));
    std::unique_ptr<char[]> buffer;
    while (true) {
      // After the end, further bytes are still read, but dropped: see max_listening.
      while (is_full(side) && !over_.is_set()) {
        // The reader may wait for hours, so it holds no buffer.
        buffer.reset();
        from.room.reset();
        co_await from.room.wait();
      }
      if (!buffer) buffer = std::make_unique_for_overwrite<char[]>(read_size);
      from.life.listen(clock_.now());
      const auto got = co_await from.stream->read_some({buffer.get(), read_size});
      from.life.heard();
      if (!got || *got == 0) {
        from.broken = true;
        end("lost connection to " + named(side) + (got ? "" : ": " + got.error().text()));
        break;
      }
      if (over_.is_set()) continue;
      const std::uint64_t pongs = relay_.pongs(side);
      const std::uint64_t carried = relay_.carried_to(other(side));
      const auto fed = relay_.feed(side, {buffer.get(), *got}, clock_.now());
      from.life.ponged(relay_.pongs(side) - pongs);
      if (relay_.carried_to(other(side)) != carried) {
        from.life.received(clock_.now());
        to.life.wrote(clock_.now());
      }
      changed();
      if (!fed) end(named(side) + " broke the protocol: " + fed.error().text());
      if (relay_.has_left(side)) end(named(side) + " has ended the connection");
    }
    from.left.set();
  }

  static std::string named(Side side) { return side == Side::caller ? "the caller" : "the provider"; }

  asio::awaitable<void> write_loop(Side side) {
    Peer& to = peer(side);
    while (true) {
      while (auto frame = relay_.next_output(side)) {
        to.sending = frame->size();
        const auto written = co_await to.stream->write(*frame);
        to.sending = 0;
        if (!written) {
          to.broken = true;
          end("lost connection to " + named(side) + ": " + written.error().text());
          to.sent.set();
          co_return;
        }
        caller_.room.set();
        provider_.room.set();
      }
      to.sent.set();
      co_await to.output.wait_and_reset();
    }
  }

  asio::awaitable<void> keep_alive(Side side, kube::Duration every) {
    Peer& one = peer(side);
    const kube::Duration silence = side == Side::provider ? limits_.silence : kube::Duration::zero();
    while (!over_.is_set()) {
      co_await clock_.sleep(every);
      if (side == Side::caller && limits_.idle > kube::Duration::zero() &&
          clock_.now() - one.life.last_data() >= limits_.idle) {
        end("the connection was idle for too long");
      } else if (one.life.is_dead(clock_.now(), silence) || one.stream->is_cut_off()) {
        one.broken = true;
        end(named(side) + " gives no sign of life");
      } else if (one.life.wants_ping()) {
        relay_.ping(side);
        one.life.pinged();
        one.output.set();
      }
    }
  }

  /// Connects once a forward waits for it; if that fails, again with the next forward.
  asio::awaitable<void> reach_provider() {
    while (true) {
      co_await wanted_.wait_and_reset();
      if (!relay_.wants_provider()) continue;
      auto stream = co_await connect_();
      if (over_.is_set()) co_return;
      if (!stream) {
        relay_.provider_failed(stream.error().text());
        changed();
        continue;
      }
      provider_.stream = std::move(*stream);
      relay_.provider_connected();
      start(Side::provider, limits_.ping_provider);
      changed();
      co_return;
    }
  }

  asio::awaitable<void> keep_time() {
    while (true) {
      timed_.reset();
      timed_until_ = relay_.next_deadline();
      co_await timed_.wait_until(clock_, {timed_until_});
      relay_.expire(clock_.now());
      timed_until_ = kube::TimePoint::max();
      changed();
    }
  }

  kube::async::Clock& clock_;
  ConnectPortForward connect_;
  PortForwardLimits limits_;
  kube::wire::PortForwardRelay relay_;
  Peer caller_, provider_;
  Event wanted_;  // a forward waits for the provider
  Event timed_;   // there is an earlier deadline than the one that is waited for
  Event over_;    // the goodbyes are queued
  kube::TimePoint timed_until_ = kube::TimePoint::max();
  TaskGroup group_;
};

}  // namespace

std::expected<kube::net::ServerResponse::Headers, UpgradeRefusal> read_port_forward_upgrade(
    const kube::net::ServerRequest& request) {
  KUBE_TRY(wanted, wanted_upgrade(request));
  if (!wanted.contains("spdy/3.1")) {
    return refuse_upgrade(400, "unable to upgrade: port-forward is served over SPDY/3.1 only");
  }
  KUBE_TRY(upgrade, read_spdy_upgrade(request, protocols));
  return std::move(upgrade.headers);
}

asio::awaitable<void> serve_port_forward(std::unique_ptr<kube::net::ByteStream> stream, ForwardedPod pod,
                                         kube::async::Clock& clock, PortForwardLimits limits) {
  const auto executor = co_await asio::this_coro::executor;
  PortForward session(executor, clock, std::move(stream), std::move(pod), limits);
  co_await session.run();
}

}  // namespace liqo::kubelet
