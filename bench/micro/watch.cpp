#include "kube/wire/list_decoder.hpp"
#include "kube/wire/watch_decoder.hpp"
#include "micro.hpp"
#include "sample_pod.hpp"

namespace bench {
namespace {

constexpr int events = 256;
/// The size of the pieces in which HTTP/2 delivers a body: one frame at a time.
constexpr std::size_t piece = 16384;

template <class Decoder>
void decode(Decoder& decoder, const std::string& body) {
  for (std::size_t at = 0; at < body.size(); at += piece) {
    const std::string_view part = std::string_view(body).substr(at, piece);
    if constexpr (std::is_void_v<decltype(decoder.feed(part))>) {
      decoder.feed(part);
    } else {
      keep(decoder.feed(part));
    }
    while (true) {
      auto next = decoder.next();
      if (!next || !*next) break;
      keep(next);
    }
  }
}

}  // namespace

void measure_watch(Runner& runner) {
  std::string stream, list = R"({"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[)";
  for (int number = 0; number < events; ++number) {
    stream += R"({"type":"MODIFIED","object":)" + sample_pod(number) + "}\n";
    list += (number > 0 ? "," : "") + sample_pod(number);
  }
  list += "]}";

  runner.measure(
      "watch decoder: one event", events,
      [&] {
        kube::wire::WatchDecoder decoder;
        decode(decoder, stream);
      },
      "pieces of 16 KiB");
  runner.measure(
      "list decoder: one object", events,
      [&] {
        kube::wire::ListDecoder decoder;
        decode(decoder, list);
        keep(decoder.finish());
      },
      "a page of 256 pods, pieces of 16 KiB");
}

}  // namespace bench
