// A small HTTP/2 server without sockets for tests: bytes in, requests out; answers in, bytes out. Tests drive both
// ends.
#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube::test {

class H2Server {
 public:
  struct Request {
    std::map<std::string, std::string> headers;
    std::string body;
  };
  /// Called once a request is complete.
  std::function<void(H2Server&, std::int32_t, const Request&)> on_request;
  std::vector<std::int32_t> resets;  ///< streams that the client has reset
  std::vector<std::int32_t> done;    ///< streams that have ended, in order

  explicit H2Server(std::uint32_t max_streams = 100, std::uint32_t initial_window = 65535) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, [](nghttp2_session*, const nghttp2_frame* frame,
                                                                   const std::uint8_t* name, std::size_t name_length,
                                                                   const std::uint8_t* value, std::size_t value_length,
                                                                   std::uint8_t, void* user) {
      self(user).requests_[frame->hd.stream_id].headers[std::string(reinterpret_cast<const char*>(name), name_length)] =
          std::string(reinterpret_cast<const char*>(value), value_length);
      return 0;
    });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks,
        [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data, std::size_t length, void* user) {
          self(user).requests_[id].body.append(reinterpret_cast<const char*>(data), length);
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          H2Server& server = self(user);
          if (frame->hd.type == NGHTTP2_RST_STREAM) server.resets.push_back(frame->hd.stream_id);
          if (frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) ++server.pings;
          if (frame->hd.type == NGHTTP2_GOAWAY) server.goaway_seen = true;
          const bool complete = (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
                                (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
          if (!complete || !server.on_request) return 0;
          const auto request = server.requests_.extract(frame->hd.stream_id);
          server.on_request(server, frame->hd.stream_id, request.mapped());
          return 0;
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        callbacks, [](nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
          self(user).done.push_back(id);
          self(user).answers_.erase(id);
          return 0;
        });
    nghttp2_option* option = nullptr;
    nghttp2_option_new(&option);
    nghttp2_option_set_max_send_header_block_length(option, 64U << 20);
    nghttp2_session_server_new2(&session_, callbacks, this, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, max_streams},
                                               {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, initial_window}};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, 2);
  }
  ~H2Server() { nghttp2_session_del(session_); }
  H2Server(const H2Server&) = delete;
  H2Server& operator=(const H2Server&) = delete;

  bool feed(std::string_view bytes) {
    return nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()) >= 0;
  }
  std::string output() {
    std::string out;
    const std::uint8_t* data = nullptr;
    for (ssize_t length = 0; (length = nghttp2_session_mem_send(session_, &data)) > 0;)
      out.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(length));
    return out;
  }

  /// Starts an answer; the body comes by push().
  void head(std::int32_t id, int status, const std::vector<std::pair<std::string, std::string>>& headers = {}) {
    std::vector<nghttp2_nv> fields;
    const std::string code = std::to_string(status);
    fields.push_back(field(":status", code));
    for (const auto& [name, value] : headers) fields.push_back(field(name, value));
    answers_[id];
    nghttp2_data_provider provider{};
    provider.read_callback = [](nghttp2_session*, std::int32_t stream, std::uint8_t* out, std::size_t space,
                                std::uint32_t* flags, nghttp2_data_source*, void* user) -> ssize_t {
      Answer& answer = self(user).answers_[stream];
      const std::size_t count = std::min(space, answer.bytes.size() - answer.sent);
      std::memcpy(out, answer.bytes.data() + answer.sent, count);
      answer.sent += count;
      self(user).body_sent += count;
      if (answer.sent == answer.bytes.size()) {
        answer.bytes.clear();
        answer.sent = 0;
        if (answer.last) *flags |= NGHTTP2_DATA_FLAG_EOF;
      }
      if (count == 0 && !answer.last) return NGHTTP2_ERR_DEFERRED;
      return static_cast<ssize_t>(count);
    };
    nghttp2_submit_response(session_, id, fields.data(), fields.size(), &provider);
  }
  void interim(std::int32_t id, int status) {
    const std::string code = std::to_string(status);
    const nghttp2_nv fields[] = {field(":status", code)};
    nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, id, nullptr, fields, 1, nullptr);
  }
  void push(std::int32_t id, std::string_view bytes, bool last) {
    answers_[id].bytes += bytes;
    answers_[id].last = last;
    nghttp2_session_resume_data(session_, id);
  }
  /// Whether an answer has begun of which the client has not taken the end, and which it still wants.
  bool is_answering(std::int32_t id) const { return answers_.contains(id); }
  /// Bytes of an answer that the client has not taken yet.
  std::size_t waiting(std::int32_t id) const {
    const auto found = answers_.find(id);
    return found == answers_.end() ? 0 : found->second.bytes.size() - found->second.sent;
  }
  void answer(std::int32_t id, int status, std::string_view body = {},
              const std::vector<std::pair<std::string, std::string>>& headers = {}) {
    head(id, status, headers);
    push(id, body, true);
  }
  void reset(std::int32_t id, std::uint32_t code) { nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, code); }
  void goaway(std::int32_t last, std::uint32_t code = NGHTTP2_NO_ERROR) {
    nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, last, code, nullptr, 0);
  }
  void ping() { nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr); }

  int pings = 0;
  bool goaway_seen = false;
  std::size_t body_sent = 0;

 private:
  struct Answer {
    std::string bytes;
    std::size_t sent = 0;
    bool last = false;
  };
  static H2Server& self(void* user) { return *static_cast<H2Server*>(user); }
  static nghttp2_nv field(std::string_view name, std::string_view value) {
    return {const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(name.data())),
            const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(value.data())), name.size(), value.size(),
            NGHTTP2_NV_FLAG_NONE};
  }
  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, Request> requests_;
  std::map<std::int32_t, Answer> answers_;
};

}  // namespace kube::test
