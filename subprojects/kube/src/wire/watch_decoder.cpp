#include "kube/wire/watch_decoder.hpp"

#include "deep_cut.hpp"
#include "kube/base/json_arena.hpp"

namespace kube::wire {
namespace {

std::optional<WatchEventType> type_of(std::string_view name) {
  if (name == "ADDED") return WatchEventType::added;
  if (name == "MODIFIED") return WatchEventType::modified;
  if (name == "DELETED") return WatchEventType::deleted;
  if (name == "BOOKMARK") return WatchEventType::bookmark;
  if (name == "ERROR") return WatchEventType::error;
  return std::nullopt;
}

}  // namespace

void WatchDecoder::feed(std::string_view bytes) {
  if (taken_ > 0) {
    buffer_.erase(0, taken_);
    scanned_ -= taken_;
    taken_ = 0;
  }
  buffer_.append(bytes);
}

Result<std::optional<WatchEvent>> WatchDecoder::next() {
  while (true) {
    const std::size_t end = buffer_.find('\n', scanned_);
    if (end == std::string::npos) {
      scanned_ = buffer_.size();
      if (buffer_.size() - taken_ > max_line_)
        return fail(Errc::too_large, "a watch event is longer than " + std::to_string(max_line_) + " bytes");
      return std::optional<WatchEvent>();
    }
    const std::string_view line = std::string_view(buffer_).substr(taken_, end - taken_);
    taken_ = scanned_ = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (line.size() > max_line_)
      return fail(Errc::too_large, "a watch event is longer than " + std::to_string(max_line_) + " bytes");

    // The event itself is one level.
    bool too_deep = false;
    auto document = parse_json_arena(line, max_object_depth + 1);
    if (!document) {
      DeepCut cut(max_object_depth + 1);
      std::string readable;
      cut.feed(line, readable);
      too_deep = readable != line;
      if (too_deep) document = parse_json_arena(readable, max_object_depth + 1);
    }
    if (!document) return fail(std::move(document.error()), "a watch event");
    const auto type = type_of(string_at(*document, {"type"}));
    json::object* event = document->if_object();
    json::value* object = event ? event->if_contains("object") : nullptr;
    if (!type || !object || !object->is_object())
      return fail(Errc::parse, "a watch event without a known type and an object");
    return std::optional(WatchEvent{*type, std::move(object->get_object()), too_deep});
  }
}

}  // namespace kube::wire
