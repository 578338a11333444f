// Foreign bytes as the answers of an HTTP/2 server to three requests. The first byte says how the rest is cut and
// whether bodies are read as they come; memory must stay bounded, and every stream must end at most once.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <utility>

#include "kube/wire/http2_session.hpp"

namespace {

using namespace kube;
using namespace kube::wire;

constexpr std::uint32_t stream_window = 64U << 10;

struct Stream {
  std::size_t unread = 0;
  bool head = false;
  bool over = false;
};

void check(bool holds) {
  if (!holds) std::abort();
}

void take(Http2Session& session, std::map<http2::StreamId, Stream>& streams, bool reading) {
  for (auto& event : session.take_events()) {
    if (const auto* head = std::get_if<http2::Headers>(&event)) {
      check(streams.contains(head->stream) && !streams[head->stream].head && head->status >= 200);
      streams[head->stream].head = true;
    } else if (const auto* data = std::get_if<http2::Data>(&event)) {
      Stream& stream = streams[data->stream];
      check(stream.head && !stream.over);
      stream.unread += data->bytes.size();
      check(stream.unread <= stream_window);
      if (reading) session.consume(data->stream, std::exchange(stream.unread, 0));
    } else if (const auto* end = std::get_if<http2::End>(&event)) {
      check(streams[end->stream].head && !streams[end->stream].over);
      streams[end->stream].over = true;
    } else if (const auto* reset = std::get_if<http2::Reset>(&event)) {
      check(!streams[reset->stream].over);
      streams[reset->stream].over = true;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Long inputs fed in small pieces cost time and find nothing that short ones do not.
  if (size == 0 || size > 4096) return -1;
  const std::size_t piece = (data[0] & 0x7fU) + 1;
  const bool reading = (data[0] & 0x80U) != 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);

  Http2Session session({.connection_window = 1U << 20, .stream_window = stream_window, .max_header_list = 4096});
  std::map<http2::StreamId, Stream> streams;
  for (int i = 0; i < 3; ++i) {
    HttpRequest request;
    request.method = i == 0 ? "GET" : "POST";
    request.target = "/";
    if (i == 2) request.body = std::string(100'000, 'b');
    streams[session.submit(request, {"https", "h"}).value()] = {};
  }
  std::string out;
  check(session.take_output(out).has_value());
  for (std::size_t i = 0; i < bytes.size(); i += piece) {
    const bool alive = session.feed(bytes.substr(i, piece)).has_value();
    take(session, streams, reading);
    if (i > bytes.size() / 2) session.cancel(3);
    streams.erase(i > bytes.size() / 2 ? 3 : 0);
    out.clear();
    const bool writing = session.take_output(out).has_value();
    check(out.size() <= 1U << 20);
    take(session, streams, reading);
    if (!alive || !writing) break;
  }
  return 0;
}
