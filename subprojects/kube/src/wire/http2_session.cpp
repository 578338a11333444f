#include "kube/wire/http2_session.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <unordered_map>

namespace kube::wire {

using http2::StreamId;

namespace {

/// Bytes of one answer's header block, compressed, after which the peer is given up.
constexpr std::size_t max_header_block = 256U << 10;

struct Stream {
  std::string body;  ///< of the request
  std::size_t sent = 0;
  http2::Headers head;
  std::size_t head_size = 0;
  bool head_done = false;
  bool sent_head = false;
  bool ended = false;
  bool too_large = false;
  bool bad_status = false;
};

std::string error_name(std::uint32_t code) { return nghttp2_http2_strerror(code); }

std::uint8_t* bytes_of(std::string_view text) {
  // nghttp2 takes mutable pointers and does not write through them.
  return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
}

nghttp2_nv field(std::string_view name, std::string_view value, std::uint8_t flags = NGHTTP2_NV_FLAG_NONE) {
  return {bytes_of(name), bytes_of(value), name.size(), value.size(), flags};
}

}  // namespace

struct Http2Session::Impl {
  explicit Impl(const Http2Options& given);
  ~Impl() { nghttp2_session_del(session); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Stream* find(StreamId id) {
    const auto found = streams.find(id);
    return found == streams.end() ? nullptr : &found->second;
  }
  void end(StreamId id, Stream& stream) {
    if (stream.ended) return;
    stream.ended = true;
    events.emplace_back(http2::End{id});
  }
  void reset(StreamId id, bool unprocessed, Failure failure) {
    events.emplace_back(http2::Reset{id, unprocessed, std::move(failure)});
  }

  int on_begin_frame(const nghttp2_frame_hd& frame);
  int on_header(const nghttp2_frame& frame, std::string_view name, std::string_view value);
  int on_frame(const nghttp2_frame& frame);
  int on_data(StreamId id, std::string_view bytes);
  int on_close(StreamId id, std::uint32_t error);
  int on_not_sent(const nghttp2_frame& frame, int error);
  ssize_t read_body(StreamId id, std::uint8_t* out, std::size_t length, std::uint32_t& flags);

  Http2Options options;
  nghttp2_session* session = nullptr;
  std::unordered_map<StreamId, Stream> streams;
  std::vector<http2::Event> events;
  std::string last_error;
  std::size_t header_block = 0;
  bool goaway_received = false;
  bool terminated = false;
  bool too_large = false;
};

Http2Session::Impl::Impl(const Http2Options& given) : options(given) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_begin_frame_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame_hd* frame, void* user) {
        return static_cast<Impl*>(user)->on_begin_frame(*frame);
      });
  nghttp2_session_callbacks_set_on_header_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_length,
                    const std::uint8_t* value, std::size_t value_length, std::uint8_t, void* user) {
        return static_cast<Impl*>(user)->on_header(*frame, {reinterpret_cast<const char*>(name), name_length},
                                                   {reinterpret_cast<const char*>(value), value_length});
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks,
                                                       [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
                                                         return static_cast<Impl*>(user)->on_frame(*frame);
                                                       });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      callbacks,
      [](nghttp2_session*, std::uint8_t, StreamId id, const std::uint8_t* data, std::size_t length, void* user) {
        return static_cast<Impl*>(user)->on_data(id, {reinterpret_cast<const char*>(data), length});
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      callbacks, [](nghttp2_session*, StreamId id, std::uint32_t error, void* user) {
        return static_cast<Impl*>(user)->on_close(id, error);
      });
  nghttp2_session_callbacks_set_on_frame_send_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        if (frame->hd.type != NGHTTP2_HEADERS) return 0;
        if (Stream* stream = static_cast<Impl*>(user)->find(frame->hd.stream_id)) stream->sent_head = true;
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_not_send_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, int error, void* user) {
        return static_cast<Impl*>(user)->on_not_sent(*frame, error);
      });
  nghttp2_session_callbacks_set_error_callback2(
      callbacks, [](nghttp2_session*, int, const char* text, std::size_t length, void* user) {
        static_cast<Impl*>(user)->last_error.assign(text, std::min<std::size_t>(length, 256));
        return 0;
      });

  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_max_send_header_block_length(option, 256U << 10);
  nghttp2_session_client_new2(&session, callbacks, this, option);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);

  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options.stream_window},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, std::max<std::uint32_t>(options.max_frame_size, 16384)},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(options.max_header_list)},
  };
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0,
                                        static_cast<std::int32_t>(options.connection_window));
}

int Http2Session::Impl::on_begin_frame(const nghttp2_frame_hd& frame) {
  if (frame.type == NGHTTP2_PUSH_PROMISE) {
    last_error = "the server pushes, which was ruled out";
    return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
  if (frame.type == NGHTTP2_HEADERS) header_block = 0;
  if (frame.type != NGHTTP2_HEADERS && frame.type != NGHTTP2_CONTINUATION) return 0;
  header_block += frame.length;
  if (header_block <= max_header_block) return 0;
  too_large = true;
  return NGHTTP2_ERR_CALLBACK_FAILURE;
}

int Http2Session::Impl::on_header(const nghttp2_frame& frame, std::string_view name, std::string_view value) {
  Stream* stream = find(frame.hd.stream_id);
  if (frame.hd.type != NGHTTP2_HEADERS || stream == nullptr) return 0;
  stream->head_size += name.size() + value.size() + 32;
  if (stream->head_size > options.max_header_list) {
    stream->too_large = true;
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // resets this stream; the others go on
  }
  if (stream->head_done) return 0;  // trailers
  if (name == ":status") {
    std::from_chars(value.data(), value.data() + value.size(), stream->head.status);
    // nghttp2 lets "051" pass, as a final answer.
    stream->bad_status = stream->head.status < 100;
    if (stream->bad_status) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  } else {
    stream->head.fields.emplace_back(name, value);
  }
  return 0;
}

int Http2Session::Impl::on_frame(const nghttp2_frame& frame) {
  switch (frame.hd.type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_DATA:
      if (Stream* stream = find(frame.hd.stream_id)) {
        if (frame.hd.type == NGHTTP2_HEADERS && !stream->head_done) {
          if (stream->head.status >= 200) {
            stream->head_done = true;
            stream->head.stream = frame.hd.stream_id;
            events.emplace_back(std::move(stream->head));
          } else {
            stream->head = {};
          }
        }
        if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) end(frame.hd.stream_id, *stream);
      }
      break;
    case NGHTTP2_GOAWAY:
      goaway_received = true;
      events.emplace_back(http2::GoAway{frame.goaway.last_stream_id, frame.goaway.error_code,
                                        std::string(reinterpret_cast<const char*>(frame.goaway.opaque_data),
                                                    std::min<std::size_t>(frame.goaway.opaque_data_len, 256))});
      break;
    case NGHTTP2_PING:
      if ((frame.hd.flags & NGHTTP2_FLAG_ACK) != 0) {
        http2::PingAck ack;
        std::memcpy(&ack.payload, frame.ping.opaque_data, sizeof(ack.payload));
        events.emplace_back(ack);
      }
      break;
    case NGHTTP2_SETTINGS:
      if ((frame.hd.flags & NGHTTP2_FLAG_ACK) == 0)
        events.emplace_back(
            http2::Settings{nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)});
      break;
    default:
      break;
  }
  return 0;
}

int Http2Session::Impl::on_data(StreamId id, std::string_view bytes) {
  // The connection's window is given back at once, so that a reader that stalls cannot hold up the other streams.
  nghttp2_session_consume_connection(session, bytes.size());
  if (find(id) == nullptr) {
    nghttp2_session_consume_stream(session, id, bytes.size());
    return 0;
  }
  if (!events.empty()) {
    auto* last = std::get_if<http2::Data>(&events.back());
    if (last != nullptr && last->stream == id) {
      last->bytes += bytes;
      return 0;
    }
  }
  events.emplace_back(http2::Data{id, std::string(bytes)});
  return 0;
}

int Http2Session::Impl::on_close(StreamId id, std::uint32_t error) {
  Stream* stream = find(id);
  if (stream == nullptr) return 0;
  if (!stream->ended) {
    if (stream->too_large) {
      reset(id, false,
            Failure(Errc::too_large,
                    "the answer's headers are larger than " + std::to_string(options.max_header_list) + " bytes"));
    } else if (stream->bad_status) {
      reset(id, false, Failure(Errc::protocol, "HTTP/2: the answer has no valid status"));
    } else if (error == NGHTTP2_REFUSED_STREAM) {
      reset(id, true, Failure(Errc::closed, "the server refused the stream"));
    } else if (error == NGHTTP2_PROTOCOL_ERROR && !last_error.empty()) {
      reset(id, false, Failure(Errc::protocol, "HTTP/2: " + last_error));
    } else {
      reset(id, false, Failure(Errc::closed, "the stream was reset: " + error_name(error)));
    }
  }
  streams.erase(id);
  return 0;
}

int Http2Session::Impl::on_not_sent(const nghttp2_frame& frame, int error) {
  if (frame.hd.type != NGHTTP2_HEADERS || find(frame.hd.stream_id) == nullptr) return 0;
  streams.erase(frame.hd.stream_id);
  // The header block of this request alone is over the limit, or the connection takes no more streams.
  const bool ours = error == NGHTTP2_ERR_FRAME_SIZE_ERROR || error == NGHTTP2_ERR_HEADER_COMP;
  reset(frame.hd.stream_id, !ours,
        Failure(ours ? Errc::too_large : Errc::closed,
                std::string("the request was not sent: ") + nghttp2_strerror(error)));
  return 0;
}

ssize_t Http2Session::Impl::read_body(StreamId id, std::uint8_t* out, std::size_t length, std::uint32_t& flags) {
  Stream* stream = find(id);
  if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  const std::size_t count = std::min(length, stream->body.size() - stream->sent);
  std::memcpy(out, stream->body.data() + stream->sent, count);
  stream->sent += count;
  if (stream->sent == stream->body.size()) {
    flags |= NGHTTP2_DATA_FLAG_EOF;
    std::string().swap(stream->body);
    stream->sent = 0;
  }
  return static_cast<ssize_t>(count);
}

Http2Session::Http2Session(const Http2Options& options) : impl_(std::make_unique<Impl>(options)) {}
Http2Session::~Http2Session() = default;
Http2Session::Http2Session(Http2Session&&) noexcept = default;
Http2Session& Http2Session::operator=(Http2Session&&) noexcept = default;

Result<void> Http2Session::feed(std::string_view bytes) {
  const ssize_t taken = nghttp2_session_mem_recv(impl_->session, bytes_of(bytes), bytes.size());
  if (impl_->too_large) return fail(Errc::too_large, "HTTP/2: the answer's headers do not end");
  // nghttp2 takes the bytes of a peer that broke the protocol without a word, and ends the session by a GOAWAY.
  const bool broken =
      !impl_->goaway_received && !impl_->terminated && nghttp2_session_check_request_allowed(impl_->session) == 0;
  if (taken >= 0 && !broken) return {};
  std::string why = !impl_->last_error.empty() ? impl_->last_error
                    : taken < 0                ? nghttp2_strerror(static_cast<int>(taken))
                                               : "the peer does not speak HTTP/2";
  return fail(Errc::protocol, "HTTP/2: " + why);
}

std::vector<http2::Event> Http2Session::take_events() { return std::exchange(impl_->events, {}); }

Result<void> Http2Session::take_output(std::string& out, std::size_t max_bytes) {
  const std::size_t before = out.size();
  while (out.size() - before < max_bytes) {
    const std::uint8_t* data = nullptr;
    const ssize_t length = nghttp2_session_mem_send(impl_->session, &data);
    if (length < 0) return fail(Errc::protocol, std::string("HTTP/2: ") + nghttp2_strerror(static_cast<int>(length)));
    if (length == 0) break;
    out.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(length));
  }
  return {};
}

bool Http2Session::has_output() const { return nghttp2_session_want_write(impl_->session) != 0; }

Result<StreamId> Http2Session::submit(const HttpRequest& request, const http2::BaseUrl& base,
                                      const HttpHeaders& extra) {
  if (is_closing()) return fail(Errc::closed, "the connection takes no more requests");
  const std::string path = std::string(base.path) + request.target;
  const std::string length = std::to_string(request.body.size());
  std::vector<nghttp2_nv> fields;
  fields.reserve(5 + request.headers.size() + extra.size());
  fields.push_back(field(":method", request.method));
  fields.push_back(field(":scheme", base.scheme));
  fields.push_back(field(":authority", base.authority));
  fields.push_back(field(":path", path));
  const bool has_body = !request.body.empty() || (request.method != "GET" && request.method != "DELETE");
  if (has_body) fields.push_back(field("content-length", length));
  for (const auto* headers : {&request.headers, &extra}) {
    for (const auto& [name, value] : *headers) {
      // Credentials never enter the compression context (RFC 7541 section 7.1.3).
      const bool secret = name == "authorization";
      fields.push_back(field(name, value, secret ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE));
    }
  }
  for (const nghttp2_nv& each : fields) {
    const bool pseudo = each.namelen > 0 && each.name[0] == ':';
    if ((!pseudo && nghttp2_check_header_name(each.name, each.namelen) == 0) ||
        nghttp2_check_header_value(each.value, each.valuelen) == 0)
      return fail(Errc::invalid_input, "header '" +
                                           std::string(reinterpret_cast<const char*>(each.name), each.namelen) +
                                           "' has characters that HTTP cannot carry");
  }
  if (nghttp2_check_path(bytes_of(path), path.size()) == 0)
    return fail(Errc::invalid_input, "the request's path has characters that a URL cannot have");

  nghttp2_data_provider provider{};
  provider.read_callback = [](nghttp2_session*, StreamId id, std::uint8_t* out, std::size_t space, std::uint32_t* flags,
                              nghttp2_data_source*,
                              void* user) { return static_cast<Impl*>(user)->read_body(id, out, space, *flags); };
  const StreamId id = nghttp2_submit_request(impl_->session, nullptr, fields.data(), fields.size(),
                                             request.body.empty() ? nullptr : &provider, nullptr);
  if (id < 0) return fail(Errc::closed, std::string("HTTP/2: ") + nghttp2_strerror(id));
  impl_->streams[id].body = request.body;
  return id;
}

bool Http2Session::is_sent(StreamId stream) const {
  const Stream* known = impl_->find(stream);
  return known == nullptr || known->sent_head;
}

void Http2Session::consume(StreamId stream, std::size_t bytes) {
  if (bytes > 0) nghttp2_session_consume_stream(impl_->session, stream, bytes);
}

void Http2Session::cancel(StreamId stream) {
  if (impl_->streams.erase(stream) == 0) return;
  nghttp2_submit_rst_stream(impl_->session, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
}

void Http2Session::ping(std::uint64_t payload) {
  std::uint8_t opaque[8];
  std::memcpy(opaque, &payload, sizeof(opaque));
  nghttp2_submit_ping(impl_->session, NGHTTP2_FLAG_NONE, opaque);
}

void Http2Session::terminate() {
  impl_->terminated = true;
  nghttp2_session_terminate_session(impl_->session, NGHTTP2_NO_ERROR);
}

bool Http2Session::is_over() const {
  return nghttp2_session_want_read(impl_->session) == 0 && nghttp2_session_want_write(impl_->session) == 0;
}

bool Http2Session::is_closing() const {
  return impl_->goaway_received || impl_->terminated || nghttp2_session_check_request_allowed(impl_->session) == 0;
}

std::size_t Http2Session::streams() const { return impl_->streams.size(); }

std::size_t Http2Session::max_concurrent_streams() const {
  return std::min<std::uint32_t>(
      nghttp2_session_get_remote_settings(impl_->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS), 1U << 20);
}

}  // namespace kube::wire
