// The body of a watch, in pieces of any size, as events. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace kube::wire {

enum class WatchEventType { added, modified, deleted, bookmark, error };

/// One event of a watch. For `error` the object is a `Status` document.
struct WatchEvent {
  WatchEventType type = WatchEventType::error;
  json::object object;
  bool too_deep = false;  ///< the object is nested deeper than max_object_depth, and without what lies there
};

/// Splits the body of a watch (one JSON document a line) into events. Call feed() for each piece, then next() until it
/// answers nothing. After a failure the stream is unusable.
class WatchDecoder {
 public:
  /// A document longer than `max_line` bytes is refused: an API server stores objects of at most about 3 MiB.
  explicit WatchDecoder(std::size_t max_line = 8u << 20) : max_line_(max_line) {}

  void feed(std::string_view bytes);
  /// The next whole event; an empty optional when more bytes are needed. Errors: Errc::parse, Errc::too_large.
  Result<std::optional<WatchEvent>> next();

 private:
  std::string buffer_;
  std::size_t taken_ = 0;    ///< bytes of the buffer that were handed out
  std::size_t scanned_ = 0;  ///< bytes known to hold no line end
  std::size_t max_line_;
};

}  // namespace kube::wire
