#include "kube/wire/watch_decoder.hpp"

#include <algorithm>

#include "deep_text.hpp"

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

Result<void> WatchDecoder::feed(std::string_view bytes) { return pending_.append(bytes); }

void WatchDecoder::take_line() {
  pending_.drop(scanned_ + 1);
  scanned_ = 0;
}

Result<std::optional<WatchEvent>> WatchDecoder::next() {
  while (true) {
    const std::string_view text = pending_.view();
    const std::size_t end = text.find('\n', scanned_);
    scanned_ = std::min(end, text.size());
    if (scanned_ > max_line_)
      return fail(Errc::too_large, "a watch event is longer than " + std::to_string(max_line_) + " bytes");
    if (end == std::string_view::npos) return std::optional<WatchEvent>();
    const std::string_view line = text.substr(0, end);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      take_line();
      continue;
    }
    // The event itself is one level.
    auto document = read_deep_text(line, max_object_depth + 1, pending_.account());
    take_line();
    if (!document) return fail(std::move(document.error()), "a watch event");
    const auto type = type_of(string_at(document->tree, {"type"}));
    json::object* event = document->tree.if_object();
    json::value* object = event ? event->if_contains("object") : nullptr;
    if (!type || !object || !object->is_object())
      return fail(Errc::parse, "a watch event without a known type and an object");
    return std::optional(WatchEvent{*type, std::move(object->get_object()), document->too_deep});
  }
}

}  // namespace kube::wire
