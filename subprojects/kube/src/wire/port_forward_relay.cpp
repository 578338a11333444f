#include "kube/wire/port_forward_relay.hpp"

#include <algorithm>
#include <utility>

#include "kube/base/printable.hpp"
#include "kube/base/scalar.hpp"

namespace kube::wire {
namespace {

// Numbers of up to 64 bits, and whatever else a client may count with.
constexpr std::size_t max_request_id = 64;
// A chunk of input may open more streams than there may be pairs: those are refused here, one by one, and are no
// breach.
constexpr std::size_t streams_in_a_chunk = 1000;

/// The port that a stream is for, as plain decimal; "" if there is none.
std::string read_port(std::string_view text) {
  const auto port = read_number<std::uint16_t>(text);
  return port && *port > 0 ? std::to_string(*port) : std::string();
}

/// The bytes of the text without the first ones of a character whose others are yet to come.
std::size_t whole_size(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(text.size(), 3); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const std::size_t size = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return size > back ? text.size() - back : text.size();
  }
  return text.size();
}

}  // namespace

PortForwardRelay::PortForwardRelay(std::string pod, ForwardLimits limits)
    : pod_(std::move(pod)),
      limits_(limits),
      caller_(SpdyRole::server, {.streams = 2 * limits.pairs + streams_in_a_chunk}) {}

PortForwardRelay::Forward* PortForwardRelay::find(const Streams& streams, std::uint32_t id) {
  const auto found = streams.find(id);
  return found == streams.end() ? nullptr : found->second;
}

Result<void> PortForwardRelay::feed(ForwardSide side, std::string_view bytes, TimePoint now) {
  if (is_caller(side)) {
    auto fed = caller_.feed(bytes);
    while (auto event = caller_.next()) take_caller(*event, now);
    return fed;
  }
  if (!provider_) return fail(Errc::protocol, "there is no connection to a provider");
  auto fed = provider_->feed(bytes);
  while (auto event = provider_->next()) take_provider(*event, now);
  return fed;
}

std::optional<std::string> PortForwardRelay::next_output(ForwardSide side) {
  if (is_caller(side)) return caller_.next_output();
  return provider_ ? provider_->next_output() : std::nullopt;
}

std::size_t PortForwardRelay::pending_output(ForwardSide side) const {
  if (is_caller(side)) return caller_.pending_output();
  return provider_ ? provider_->pending_output() : 0;
}

std::size_t PortForwardRelay::open_streams(ForwardSide side) const {
  if (is_caller(side)) return caller_.open_streams();
  return provider_ ? provider_->open_streams() : 0;
}

void PortForwardRelay::ping(ForwardSide side) {
  if (is_caller(side)) {
    caller_.ping();
  } else if (provider_) {
    provider_->ping();
  }
}

// -- the caller -------------------------------------------------------------------------------------------------------

void PortForwardRelay::take_caller(const SpdyEvent& event, TimePoint now) {
  using Kind = SpdyEvent::Kind;
  if (event.kind == Kind::opened) return opened(event.stream, event.headers, now);
  if (event.kind == Kind::pong) ++caller_pongs_;
  if (event.kind == Kind::going_away) caller_left_ = true;
  Forward* forward = find(of_caller_, event.stream);
  if (!forward) return;
  if (event.kind == Kind::reset) return caller_reset(*forward, event.stream, now);
  // Nothing that a caller says on the error stream has a meaning.
  if (event.stream != forward->data) return;
  if (event.kind == Kind::data && forward->phase == Phase::open) {
    if (provider_->write(forward->far_data, event.bytes)) to_provider_ += event.bytes.size();
  } else if (event.kind == Kind::finished) {
    forward->caller_finished = true;
    if (forward->phase == Phase::open) provider_->finish(forward->far_data);
    settle(*forward, now);
  }
}

void PortForwardRelay::opened(std::uint32_t stream, const SpdyHeaders& headers, TimePoint now) {
  const std::string port = read_port(find_header(headers, "port"));
  const std::string_view type = find_header(headers, "streamtype");
  std::string request(find_header(headers, "requestid"));
  const bool is_error = type == "error";
  // Old clients send no numbers: their data stream is the next one after the error stream.
  if (request.empty() && (is_error || stream > 2)) request = std::to_string(is_error ? stream : stream - 2);
  if (closed_ || port.empty() || (!is_error && type != "data") || request.empty() || request.size() > max_request_id) {
    return caller_.reset(stream, SpdyReset::cancel);
  }
  if (!forwards_.contains(request) && forwards_.size() >= limits_.pairs) {
    return caller_.reset(stream, SpdyReset::refused_stream);
  }
  Forward& forward = forwards_[request];
  forward.request = request;
  std::uint32_t& place = is_error ? forward.error : forward.data;
  if (place != 0 || forward.phase != Phase::pairing) {
    report(forward,
           "error processing stream for request " + request + ": " + std::string(type) + " stream already assigned");
    return caller_.reset(stream, SpdyReset::cancel);
  }
  place = stream;
  of_caller_.emplace(stream, &forward);
  if (is_error) {
    caller_.reply(stream);
  } else {
    forward.port = port;
  }
  if (forward.error == 0 || forward.data == 0) return set_deadline(forward, now + limits_.pairing);
  forward.phase = Phase::waiting;
  set_deadline(forward, now + limits_.opening);
  if (provider_) ask_provider(forward);
}

void PortForwardRelay::caller_reset(Forward& forward, std::uint32_t stream, TimePoint now) {
  of_caller_.erase(stream);
  const bool is_data = stream == forward.data;
  (is_data ? forward.data : forward.error) = 0;
  (is_data ? forward.is_reset : forward.error_ended) = true;
  if (forward.phase != Phase::open) return drop(forward);
  // How the forward ended is still written to the error stream: Go's clients reset the data stream and wait for that.
  const std::uint32_t far = std::exchange(is_data ? forward.far_data : forward.far_error, 0);
  of_provider_.erase(far);
  provider_->reset(far, SpdyReset::cancel);
  settle(forward, now);
}

// -- the provider -----------------------------------------------------------------------------------------------------

bool PortForwardRelay::wants_provider() const {
  if (provider_ || closed_) return false;
  return std::any_of(forwards_.begin(), forwards_.end(),
                     [](const auto& entry) { return entry.second.phase == Phase::waiting; });
}

void PortForwardRelay::provider_connected() {
  // Servers of port-forward open no streams, and their replies say nothing.
  provider_.emplace(SpdyRole::client, SpdyLimits{.streams = 0, .reads_headers = false});
  for (auto& [request, forward] : forwards_) {
    if (forward.phase == Phase::waiting) ask_provider(forward);
  }
}

void PortForwardRelay::provider_failed(std::string_view why) {
  for (auto entry = forwards_.begin(); entry != forwards_.end();) {
    Forward& forward = (entry++)->second;
    if (forward.phase == Phase::waiting) give_up(forward, why);
  }
}

void PortForwardRelay::ask_provider(Forward& forward) {
  forward.far_request = next_request_++;
  forward.phase = Phase::opening_error;
  open_far(forward, "error", &Forward::far_error);
}

void PortForwardRelay::open_far(Forward& forward, std::string_view type, std::uint32_t Forward::* stream) {
  const SpdyHeaders headers = {
      {"streamtype", std::string(type)}, {"port", forward.port}, {"requestid", std::to_string(forward.far_request)}};
  // open() fails only after our goodbye, which ends the forward as well.
  const auto id = provider_->open(headers);
  if (!id) return;
  forward.*stream = *id;
  of_provider_.emplace(*id, &forward);
}

void PortForwardRelay::take_provider(const SpdyEvent& event, TimePoint now) {
  using Kind = SpdyEvent::Kind;
  if (event.kind == Kind::pong) ++provider_pongs_;
  if (event.kind == Kind::going_away) provider_left_ = true;
  Forward* forward = find(of_provider_, event.stream);
  if (!forward) return;
  const bool is_data = event.stream == forward->far_data;
  switch (event.kind) {
    case Kind::replied:
      return replied(*forward, event.stream, now);
    case Kind::data:
      if (!is_data) return pass_words(*forward, event.bytes);
      if (caller_.write(forward->data, event.bytes)) to_caller_ += event.bytes.size();
      return;
    case Kind::finished:
      if (is_data) {
        forward->provider_finished = true;
        if (forward->phase == Phase::open) caller_.finish(forward->data);
      } else {
        end_error(*forward);
      }
      return settle(*forward, now);
    case Kind::reset:
      return provider_reset(*forward, event.stream, now);
    default:
      return;
  }
}

void PortForwardRelay::replied(Forward& forward, std::uint32_t stream, TimePoint now) {
  if (stream == forward.far_error) {
    // We have nothing to say on it.
    provider_->finish(forward.far_error);
    forward.phase = Phase::opening_data;
    return open_far(forward, "data", &Forward::far_data);
  }
  forward.phase = Phase::open;
  forward.deadline = TimePoint::max();
  caller_.reply(forward.data);
  if (forward.caller_finished) provider_->finish(forward.far_data);
  if (forward.provider_finished) caller_.finish(forward.data);
  settle(forward, now);
}

void PortForwardRelay::provider_reset(Forward& forward, std::uint32_t stream, TimePoint now) {
  of_provider_.erase(stream);
  const bool is_data = stream == forward.far_data;
  (is_data ? forward.far_data : forward.far_error) = 0;
  if (forward.phase != Phase::open) return give_up(forward, "the provider refused the stream");
  if (is_data) {
    forward.is_reset = true;
    caller_.reset(forward.data, SpdyReset::cancel);
    of_caller_.erase(std::exchange(forward.data, 0));
  } else {
    // Ended and not reset: Go's readers may lose what came before a reset, and here that is the text.
    end_error(forward);
  }
  settle(forward, now);
}

// -- both -------------------------------------------------------------------------------------------------------------

void PortForwardRelay::report(Forward& forward, std::string_view text) {
  if (forward.error == 0 || forward.error_ended) return;
  const std::string_view piece = cut_text(text, limits_.error_text - std::min(forward.told, limits_.error_text));
  if (piece.empty()) return;
  forward.told += piece.size();
  caller_.write(forward.error, piece);
}

void PortForwardRelay::pass_words(Forward& forward, std::string_view bytes) {
  std::string words = std::exchange(forward.cut, {}).append(bytes);
  const std::size_t whole = bytes.empty() ? words.size() : whole_size(words);
  forward.cut = words.substr(whole);
  words.resize(whole);
  report(forward, printable(words));
}

void PortForwardRelay::end_error(Forward& forward) {
  if (forward.error_ended) return;
  pass_words(forward, {});
  forward.error_ended = true;
  caller_.finish(forward.error);
}

// Lets go of a forward that is over, and gives one that is nearly so a last time-out.
void PortForwardRelay::settle(Forward& forward, TimePoint now) {
  if (forward.phase != Phase::open) {
    // The error stream has ended without a text: there is nothing to wait for.
    if (forward.error_ended) give_up(forward, "");
    return;
  }
  const bool is_data_over = forward.is_reset || (forward.caller_finished && forward.provider_finished);
  if (is_data_over && forward.error_ended) return drop(forward);
  const bool is_ending = is_data_over || (forward.error_ended && forward.provider_finished);
  if (is_ending && forward.deadline == TimePoint::max()) set_deadline(forward, now + limits_.closing);
}

void PortForwardRelay::set_deadline(Forward& forward, TimePoint at) {
  forward.deadline = at;
  earliest_ = std::min(earliest_, at);
}

void PortForwardRelay::expire(TimePoint now) {
  if (now < earliest_) return;
  for (auto entry = forwards_.begin(); entry != forwards_.end();) {
    Forward& forward = (entry++)->second;
    if (forward.deadline > now) continue;
    if (forward.phase == Phase::pairing) {
      report(forward, "(request=" + forward.request + ") timed out waiting for streams");
      drop(forward);
    } else if (forward.phase == Phase::open) {
      drop(forward);
    } else {
      give_up(forward, "the provider did not open the connection in time");
    }
  }
  earliest_ = TimePoint::max();
  for (const auto& [request, forward] : forwards_) earliest_ = std::min(earliest_, forward.deadline);
}

// Ends a forward, with the reason on the caller's error stream.
void PortForwardRelay::give_up(Forward& forward, std::string_view why) {
  if (!why.empty()) {
    pass_words(forward, {});
    // After what the provider has said, which may be half a sentence.
    if (forward.told > 0) report(forward, "; ");
    const std::string port = forward.port.empty() ? "" : "port " + forward.port + " ";
    report(forward, "error forwarding " + port + "to pod " + pod_ + ": " + printable(why));
  }
  // A client whose stream is reset without a reply shows that, and not the text.
  caller_.reply(forward.data);
  drop(forward);
}

// Ends what is left of a forward on both sides; all that was written is read before the end.
void PortForwardRelay::drop(Forward& forward) {
  end_error(forward);
  // A caller that has not ended it itself would keep it open; if there is a text, Go's readers could lose that.
  if (forward.told == 0) caller_.reset(forward.error, SpdyReset::cancel);
  caller_.reset(forward.data, SpdyReset::cancel);
  of_caller_.erase(forward.error);
  of_caller_.erase(forward.data);
  if (provider_) {
    for (const std::uint32_t stream : {forward.far_error, forward.far_data}) {
      of_provider_.erase(stream);
      provider_->reset(stream, SpdyReset::cancel);
    }
  }
  forwards_.erase(forwards_.find(forward.request));
}

void PortForwardRelay::close(std::string_view why) {
  if (std::exchange(closed_, true)) return;
  while (!forwards_.empty()) give_up(forwards_.begin()->second, why);
  earliest_ = TimePoint::max();
  caller_.close();
  if (provider_) provider_->close();
}

}  // namespace kube::wire
