// The body of a watch, in pieces of any size, as events. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/k8s/object.hpp"
#include "kube/wire/pending_text.hpp"

namespace kube::wire {

enum class WatchEventType { added, modified, deleted, bookmark, error };

/// One event of a watch. For `error` the object is a `Status` document.
struct WatchEvent {
  WatchEventType type = WatchEventType::error;
  json::object object;
  bool too_deep = false;  ///< the object is nested deeper than max_object_depth, and without what lies there
  bool too_long = false;  ///< the object is without what comes after its first 64 KiB, or a little less
};

/// Splits the body of a watch (one JSON document a line) into events. Call feed() for each piece, then next() until it
/// returns nothing. After a failure the stream is unusable.
class WatchDecoder {
 public:
  /// Of a document longer than `max_line` bytes only the beginning is read; the rest of its line is dropped as it
  /// comes. What waits and what is parsed is drawn on the account, if there is one.
  explicit WatchDecoder(std::size_t max_line = max_object_bytes, std::shared_ptr<MemoryAccount> account = nullptr)
      : pending_(std::move(account)), max_line_(max_line) {}

  /// Errors: Errc::too_large.
  Result<void> feed(std::string_view bytes);
  /// The next whole event; an empty optional when more bytes are needed. Errors: Errc::parse, Errc::too_large.
  Result<std::optional<WatchEvent>> next();

 private:
  /// Drops the line that ends where scanned_ is.
  void take_line();
  /// Drops the line under way as far as it has come, and what is still to come of it.
  void pass_line(bool has_ended);

  PendingText pending_;
  std::size_t scanned_ = 0;  ///< bytes known to hold no line end
  std::size_t max_line_;
  bool passes_ = false;  ///< in the rest of a line whose event has been taken
};

}  // namespace kube::wire
