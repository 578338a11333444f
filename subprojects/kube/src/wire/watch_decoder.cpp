#include "kube/wire/watch_decoder.hpp"

#include <algorithm>
#include <utility>

#include "close_text.hpp"
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

/// How much is read of a line that is too long. The metadata of an object come before what makes it long.
constexpr std::size_t max_head = 64u << 10;
/// The event, its object, and the object's metadata: whatever of these has come whole is read.
constexpr std::size_t head_levels = 3;

Result<WatchEvent> read_event(std::string_view line, const std::shared_ptr<MemoryAccount>& account) {
  // The event itself is one level.
  KUBE_TRY(document, read_deep_text(line, max_object_depth + 1, account), "a watch event");
  const auto type = type_of(string_at(document.tree, {"type"}));
  json::object* event = document.tree.if_object();
  json::value* object = event ? event->if_contains("object") : nullptr;
  if (!type || !object || !object->is_object())
    return fail(Errc::parse, "a watch event without a known type and an object");
  return WatchEvent{.type = *type, .object = std::move(object->get_object()), .too_deep = document.too_deep};
}

Result<WatchEvent> read_long_event(std::string_view line, const std::shared_ptr<MemoryAccount>& account) {
  auto event = read_event(close_text(line.substr(0, max_head), head_levels), account);
  if (!event) return fail(std::move(event.error()), "the beginning of one that is too long");
  event->too_long = true;
  return event;
}

}  // namespace

Result<void> WatchDecoder::feed(std::string_view bytes) { return pending_.append(bytes); }

void WatchDecoder::take_line() {
  pending_.drop(scanned_ + 1);
  scanned_ = 0;
}

void WatchDecoder::pass_line(bool has_ended) {
  passes_ = !has_ended;
  if (has_ended) return take_line();
  pending_.drop(std::exchange(scanned_, 0));
}

Result<std::optional<WatchEvent>> WatchDecoder::next() {
  while (true) {
    const std::string_view text = pending_.view();
    const std::size_t end = text.find('\n', scanned_);
    const bool has_ended = end != std::string_view::npos;
    scanned_ = std::min(end, text.size());
    const bool is_long = scanned_ > max_line_;
    if (!has_ended && !is_long && !passes_) return std::optional<WatchEvent>();
    const std::string_view line = text.substr(0, scanned_);
    if (passes_ || line.find_first_not_of(" \t\r") == std::string_view::npos) {
      pass_line(has_ended);
      if (!has_ended) return std::optional<WatchEvent>();
      continue;
    }
    auto event = is_long ? read_long_event(line, pending_.account()) : read_event(line, pending_.account());
    pass_line(has_ended);
    if (!event) return std::unexpected(std::move(event.error()));
    return std::optional(std::move(*event));
  }
}

}  // namespace kube::wire
