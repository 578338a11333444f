// A peer of port-forward in tests.
#pragma once

#include <boost/asio/this_coro.hpp>
#include <map>
#include <string>

#include "kube/async/event.hpp"
#include "kube/async/task_group.hpp"
#include "kube/net/transport.hpp"
#include "kube/wire/spdy_session.hpp"

namespace liqo::test {

namespace asio = boost::asio;

/// A peer that speaks SPDY over a pipe: a caller like kubectl, or a provider's API server.
class SpdyPeer {
 public:
  struct Heard {
    bool replied = false, finished = false, reset = false;
    std::string bytes;
  };

  SpdyPeer(const asio::any_io_executor& executor, kube::wire::SpdyRole role)
      : session(role), changed(executor), goes_on(executor), output_(executor) {
    goes_on.set();
  }

  asio::awaitable<void> run(kube::net::ByteStream& stream) {
    const auto executor = co_await asio::this_coro::executor;
    kube::async::TaskGroup writing(executor);
    writing.spawn(write(stream));
    std::string buffer(16 * 1024, '\0');
    for (;;) {
      co_await goes_on.wait();
      const auto got = co_await stream.read_some(buffer);
      if (!got || *got == 0) break;
      static_cast<void>(session.feed(std::string_view(buffer).substr(0, *got)));
      while (auto event = session.next()) take(*event);
      output_.set();
      changed.set();
    }
    ended = true;
    changed.set();
    stream.close();
    co_await writing.stop();
  }

  /// Waits until the condition holds.
  template <class Holds>
  asio::awaitable<void> until(Holds holds) {
    while (!holds() && !ended) {
      changed.reset();
      co_await changed.wait();
    }
  }
  void flush() { output_.set(); }

  kube::wire::SpdySession session;
  std::map<std::uint32_t, Heard> heard;
  bool answers = true;  // replies to streams
  bool echoes = false;  // data, and its end
  bool said_goodbye = false;
  bool ended = false;
  int streams = 0;
  kube::async::Event changed;
  kube::async::Event goes_on;  // or it reads nothing

 private:
  using Kind = kube::wire::SpdyEvent::Kind;
  void take(const kube::wire::SpdyEvent& event) {
    Heard& stream = heard[event.stream];
    stream.bytes += event.bytes;
    if (event.kind == Kind::replied) stream.replied = true;
    if (event.kind == Kind::finished) stream.finished = true;
    if (event.kind == Kind::reset) stream.reset = true;
    if (event.kind == Kind::going_away) said_goodbye = true;
    if (event.kind == Kind::opened) {
      ++streams;
      if (answers) session.reply(event.stream);
    }
    if (!echoes || event.stream % 4 != 3) return;
    if (event.kind == Kind::data) session.write(event.stream, event.bytes);
    if (event.kind == Kind::finished) {
      session.finish(event.stream);
      session.finish(event.stream - 2);
    }
  }
  asio::awaitable<void> write(kube::net::ByteStream& stream) {
    for (;;) {
      while (auto frame = session.next_output()) {
        if (!co_await stream.write(*frame)) co_return;
      }
      co_await output_.wait_and_reset();
    }
  }

  kube::async::Event output_;
};

}  // namespace liqo::test
