#include "kube/wire/list_decoder.hpp"

#include <algorithm>
#include <utility>

#include "deep_text.hpp"
#include "kube/base/json_arena.hpp"

namespace kube::wire {
namespace {

/// Of a page without its items: resourceVersion, continue token, and what else its server says of it.
constexpr std::size_t max_frame = 64u << 10;
constexpr std::size_t max_frame_depth = 32;
constexpr std::string_view white_space = " \t\r\n";

std::unexpected<Failure> malformed(std::string_view what) { return fail(Errc::parse, "a list: " + std::string(what)); }

std::unexpected<Failure> too_long() {
  return fail(Errc::too_large, "an object of a list is longer than " + std::to_string(max_object_bytes) + " bytes");
}

}  // namespace

Result<void> ListDecoder::feed(std::string_view bytes) {
  received_ += bytes.size();
  if (received_ > max_bytes_)
    return fail(Errc::too_large, "a list page is longer than " + std::to_string(max_bytes_) + " bytes");
  return pending_.append(bytes);
}

Result<std::optional<ListItem>> ListDecoder::next() {
  if (place_ == Place::items) {
    if (const auto end = find_end()) return take(*end);
    if (at_ > max_object_bytes) return too_long();
    return std::optional<ListItem>();
  }
  scan_frame();
  if (frame_.size() > max_frame)
    return fail(Errc::too_large,
                "a list page has more than " + std::to_string(max_frame) + " bytes besides its objects");
  pending_.drop(std::exchange(at_, 0));
  if (place_ == Place::items) return next();
  return std::optional<ListItem>();
}

void ListDecoder::scan_frame() {
  const Place place = place_;
  const std::string_view text = pending_.view();
  while (at_ < text.size() && place_ == place) see_in_frame(text[at_++]);
}

void ListDecoder::see_in_frame(char c) {
  if (frame_.empty() && white_space.contains(c)) return;
  frame_ += c;
  if (in_string_) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
      const auto name = std::string_view(frame_).substr(string_, frame_.size() - 1 - string_);
      has_name_ = depth_ == 1 && frame_.front() == '{' && name == "items";
    }
    return;
  }
  if (c == '"') {
    in_string_ = true;
    string_ = frame_.size();
  } else if (c == '{' || c == '[') {
    ++depth_;
    if (has_name_ && c == '[' && place_ == Place::before) {
      place_ = Place::items;
      depth_ = 0;
    }
  } else if (c == '}' || c == ']') {
    depth_ -= depth_ > 0 ? 1 : 0;
  }
  if (c != ':' && !white_space.contains(c)) has_name_ = false;
}

bool ListDecoder::skip_string(std::string_view text) {
  while (at_ < text.size()) {
    if (std::exchange(escaped_, false)) ++at_;
    const std::size_t from = at_, quote = std::min(text.find('"', at_), text.size());
    // A quote that ends the string follows no backslash, or an even number of them.
    std::size_t slashes = quote;
    while (slashes > from && text[slashes - 1] == '\\') --slashes;
    escaped_ = (quote - slashes) % 2 == 1;
    at_ = quote;
    if (quote == text.size()) return false;
    if (escaped_) continue;
    ++at_;
    in_string_ = false;
    return true;
  }
  return false;
}

std::optional<std::size_t> ListDecoder::find_end() {
  const std::string_view text = pending_.view();
  while (true) {
    if (in_string_ && !skip_string(text)) return std::nullopt;
    if (at_ == text.size()) return std::nullopt;
    const char c = text[at_++];
    if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (c == '}' || c == ']') {
      if (depth_ == 0) return at_ - 1;
      --depth_;
    } else if (c == ',' && depth_ == 0) {
      return at_ - 1;
    }
  }
}

Result<std::optional<ListItem>> ListDecoder::take(std::size_t end) {
  const std::string_view item = pending_.view().substr(0, end);
  const char mark = pending_.view()[end];
  if (mark == '}') return malformed("its items do not end as they began");
  const bool is_last = mark == ']', is_empty = item.find_first_not_of(white_space) == std::string_view::npos;
  if (is_last) {
    place_ = Place::behind;
    depth_ = 1;
    frame_ += ']';
  }
  if (is_empty && (!is_last || has_items_)) return malformed("an item is missing");
  if (is_empty) {
    pending_.drop(std::exchange(at_, 0));
    return next();
  }
  has_items_ = true;
  if (item.size() > max_object_bytes) return too_long();
  auto read = read_deep_text(item, max_object_depth, pending_.account());
  pending_.drop(std::exchange(at_, 0));
  if (!read) return fail(std::move(read.error()), "an object of a list");
  return std::optional(ListItem{std::move(read->tree), read->too_deep});
}

Result<ListMeta> ListDecoder::finish() {
  if (place_ == Place::items) return malformed("it is cut short");
  KUBE_TRY(document, parse_json_arena(frame_, max_frame_depth, pending_.account()), "a list");
  const json::value* const items = find(document, {"items"});
  // Items that were not under their own name have not been read.
  const bool was_read = items && (items->is_null() || (items->is_array() && items->get_array().empty()));
  if (!was_read || (place_ == Place::behind && !items->is_array())) return fail(Errc::parse, "a list without items");
  return ListMeta{.resource_version = std::string(string_at(document, {"metadata", "resourceVersion"})),
                  .continue_token = std::string(string_at(document, {"metadata", "continue"}))};
}

}  // namespace kube::wire
