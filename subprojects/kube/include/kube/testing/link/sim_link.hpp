// The network between one process and one API server of a simulation: latency, losses at every point, partitions,
// and answers that a loaded server gives. What happens follows from the seed.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>

#include "kube/async/event.hpp"
#include "kube/net/transport.hpp"
#include "kube/testing/fake/api_server.hpp"
#include "kube/testing/sim/simulator.hpp"

namespace kube::testing {

/// How often each fault happens, as a probability per request; all zero is a perfect network of 1 to 5 ms.
struct FaultRates {
  Duration latency_low = std::chrono::milliseconds(1);  ///< one way
  Duration latency_high = std::chrono::milliseconds(5);
  double slow = 0;  ///< takes up to `slow_by` longer on its way there
  Duration slow_by = std::chrono::seconds(40);
  double refused = 0;      ///< no connection: never delivered (Errc::connect)
  double lost_answer = 0;  ///< carried out, the answer is lost (Errc::closed; a repeatable request is sent again)
  double throttled = 0;    ///< 429 with Retry-After, not carried out
  std::chrono::seconds retry_after{1};  ///< what that asks for
  Duration repeat_after{};              ///< so much later a repeatable request whose answer was lost is sent again
  double failing = 0;                   ///< 500; half of them after it was carried out
  double unavailable = 0;               ///< 503, not carried out
  double conflict = 0;                  ///< 409 for PUT and PATCH, not carried out
  double compacted = 0;  ///< all versions up to now are compacted before a list or watch: 410 for those behind
  double cut_body = 0;   ///< the body of the answer breaks off in the middle
  double stalled = 0;    ///< per event of a watch: it and what follows on that watch come up to `stalled_by` later
  Duration stalled_by = std::chrono::seconds(10);
  Duration watch_life{};  ///< mean life of a watch until it breaks; zero: until the server ends it
  std::size_t max_watch_buffer =
      0;  ///< events that may wait for a slow watcher before the server ends the watch; 0: any
};

/// Shared by everything that travels between a client (by its actor name) and a server. Lives longer than the
/// transports over it, so that what a killed process had sent still arrives. One thread.
class SimLink {
 public:
  SimLink(Simulator& simulator, FakeApiServer& server, std::string actor);
  ~SimLink();
  SimLink(const SimLink&) = delete;
  SimLink& operator=(const SimLink&) = delete;

  void set_faults(const FaultRates& faults) { faults_ = faults; }
  /// Called with each request as it leaves its process, once more if it is repeated. Must not send anything.
  void on_send(std::function<void(const HttpRequest&)> look) { sent_ = std::move(look); }
  /// Nothing arrives any more, and neither side is notified. Connections are given up after 30 s (keep-alive); what is
  /// on its way when the link heals before that arrives late.
  void partition();
  /// The server's machine answers, the server does not: connections are refused and open ones closed.
  void refuse();
  /// Ends either.
  void heal();
  bool is_up() const { return state_ == State::up; }
  /// Breaks the open watches.
  void cut_watches();

  const std::string& actor() const { return actor_; }
  std::uint64_t requests() const { return requests_; }
  /// How many of them were lists and watches, by what they ask for: path and selectors.
  const std::map<std::string, std::uint64_t>& reads() const { return reads_; }

 private:
  friend class SimTransport;
  friend class SimWatchBody;
  enum class State { up, partitioned, refusing };
  struct Exchange;
  using Exchanges = std::map<std::uint64_t, std::shared_ptr<Exchange>>;

  std::shared_ptr<Exchange> dispatch(HttpRequest request);
  void arrive(std::uint64_t id);
  void come_back(std::uint64_t id);
  void fail(std::uint64_t id, Errc code, std::string text);
  void hold(std::uint64_t id, void (SimLink::*step)(std::uint64_t));
  FakeAnswer carry_out(Exchange& exchange);
  std::unique_ptr<net::Body> make_body(FakeAnswer answer);
  bool strikes(double probability);
  Duration latency();

  Simulator& simulator_;
  VirtualClock& clock_;
  FakeApiServer& server_;
  std::string actor_;
  Random random_;
  FaultRates faults_;
  State state_ = State::up;
  TimePoint down_since_{};
  std::uint64_t requests_ = 0;
  std::map<std::string, std::uint64_t> reads_;
  std::function<void(const HttpRequest&)> sent_;
  Exchanges in_flight_;
  std::list<class SimWatchBody*> watches_;
};

/// A process's connection over a link. Several may share a link, as one connection carries many streams.
class SimTransport final : public net::Transport {
 public:
  /// `killed`, if given and set, stops all sending at once, as the end of a process does: what was sent before is on
  /// its way for 2 s more, until the reset of its connection has overtaken it.
  explicit SimTransport(SimLink& link, std::shared_ptr<const bool> killed = nullptr)
      : link_(link), killed_(std::move(killed)) {}
  asio::awaitable<Result<net::Response>> send(HttpRequest request, Deadline deadline) override;

 private:
  SimLink& link_;
  std::shared_ptr<const bool> killed_;
};

}  // namespace kube::testing
