// Port-forward between two SPDY/3.1 connections as a state machine: a caller's (portforward.k8s.io, as kubelets serve
// it) and ours to a provider's API server. It knows no socket and no clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"
#include "kube/base/time.hpp"
#include "kube/wire/spdy_session.hpp"

namespace kube::wire {

/// The two peers of a relay. To the caller we are the server, to the provider the client.
enum class ForwardSide : std::uint8_t { caller, provider };

/// What a peer may make us hold, and how long a forward may be between two states.
struct ForwardLimits {
  std::size_t pairs = 500;                          ///< forwards at once; the streams of more are refused
  Duration pairing = std::chrono::seconds(30);      ///< for the second stream of a pair to come
  Duration opening = std::chrono::seconds(25);      ///< for the provider's, with dialing: callers wait for 30 s
  Duration closing = std::chrono::seconds(30);      ///< for the rest of a forward to end, once its data has
  std::size_t error_text = 16 * std::size_t{1024};  ///< bytes that are written to one error stream
};

/// Passes forwards on. Each is a pair of streams of the caller, `error` and `data`, of the same `requestID` (without
/// one: data follows error), and a pair of ours at the provider with a number of our own.
///
/// Guarantees: data, the end of each direction, resets and the text of the error stream pass one to one. The caller's
/// data stream is replied to once the provider has replied to ours: peers send no data before, so that none has to be
/// kept.
///
/// Failures: what goes wrong with one forward leaves the others alone. SPDY has no flow control, so stop reading a
/// connection while `pending_output` of the other is large.
class PortForwardRelay {
 public:
  /// `pod`: what the texts of failures call it.
  explicit PortForwardRelay(std::string pod, ForwardLimits limits = {});

  /// Takes bytes of a peer, cut anywhere. Errors: Errc::protocol, Errc::too_large: the peer broke the rules of SPDY,
  /// and the relay is to be closed.
  Result<void> feed(ForwardSide side, std::string_view bytes, TimePoint now);
  /// The next frame for a peer, to be written whole, in one write.
  std::optional<std::string> next_output(ForwardSide side);
  /// Bytes of frames for a peer that nobody has fetched yet.
  std::size_t pending_output(ForwardSide side) const;

  /// True while forwards wait and there is no provider: connect, then call provider_connected() or provider_failed().
  bool wants_provider() const;
  void provider_connected();
  /// Ends every forward that waits, with the reason on its error stream. The next one may ask again.
  void provider_failed(std::string_view why);

  /// No deadline passes before this; TimePoint::max() if there is none.
  TimePoint next_deadline() const { return earliest_; }
  /// Ends what took too long.
  void expire(TimePoint now);

  /// Asks a peer for a sign of life, if it is there; pongs() counts the answers.
  void ping(ForwardSide side);
  std::uint64_t pongs(ForwardSide side) const { return is_caller(side) ? caller_pongs_ : provider_pongs_; }
  /// Bytes of data that were passed on to a peer so far.
  std::uint64_t carried_to(ForwardSide side) const { return is_caller(side) ? to_caller_ : to_provider_; }

  /// True once that peer has said goodbye: it reads no more.
  bool has_left(ForwardSide side) const { return is_caller(side) ? caller_left_ : provider_left_; }
  /// Ends every forward with the reason on its error stream, and says goodbye to both peers.
  void close(std::string_view why);

  /// Forwards under way, those included that wait for their second stream.
  std::size_t size() const { return forwards_.size(); }
  /// Streams that are open, of either peer's connection.
  std::size_t open_streams(ForwardSide side) const;

 private:
  enum class Phase : std::uint8_t { pairing, waiting, opening_error, opening_data, open };
  struct Forward {
    std::string request;  // the key of the pair
    std::string port;     // decimal
    Phase phase = Phase::pairing;
    std::uint32_t error = 0, data = 0;          // streams of the caller; 0 = not there yet
    std::uint32_t far_error = 0, far_data = 0;  // ours at the provider
    std::uint64_t far_request = 0;
    bool caller_finished = false;    // the caller sends no more data
    bool provider_finished = false;  // nor does the provider
    bool is_reset = false;           // the data stream was, by either
    bool error_ended = false;
    std::size_t told = 0;  // bytes on the error stream
    std::string cut;       // of the provider's words: the first bytes of a character whose others are yet to come
    TimePoint deadline = TimePoint::max();
  };
  using Streams = std::map<std::uint32_t, Forward*>;

  static bool is_caller(ForwardSide side) { return side == ForwardSide::caller; }
  static Forward* find(const Streams& streams, std::uint32_t id);
  void take_caller(const SpdyEvent& event, TimePoint now);
  void take_provider(const SpdyEvent& event, TimePoint now);
  void opened(std::uint32_t stream, const SpdyHeaders& headers, TimePoint now);
  void ask_provider(Forward& forward);
  void open_far(Forward& forward, std::string_view type, std::uint32_t Forward::* stream);
  void replied(Forward& forward, std::uint32_t stream, TimePoint now);
  void caller_reset(Forward& forward, std::uint32_t stream, TimePoint now);
  void provider_reset(Forward& forward, std::uint32_t stream, TimePoint now);
  void report(Forward& forward, std::string_view text);
  // Writes words of the provider to the caller's error stream; empty bytes are their end.
  void pass_words(Forward& forward, std::string_view bytes);
  void end_error(Forward& forward);
  void settle(Forward& forward, TimePoint now);
  void set_deadline(Forward& forward, TimePoint at);
  void give_up(Forward& forward, std::string_view why);
  void drop(Forward& forward);

  std::string pod_;
  ForwardLimits limits_;
  SpdySession caller_;
  std::optional<SpdySession> provider_;
  std::map<std::string, Forward> forwards_;  // by requestID; Streams point into it
  Streams of_caller_, of_provider_;
  std::uint64_t next_request_ = 0;
  TimePoint earliest_ = TimePoint::max();
  std::uint64_t caller_pongs_ = 0, provider_pongs_ = 0;
  std::uint64_t to_caller_ = 0, to_provider_ = 0;
  bool caller_left_ = false, provider_left_ = false;
  bool closed_ = false;
};

}  // namespace kube::wire
