// The body of a list, in pieces of any size, as objects: each is parsed as soon as it has come whole. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"
#include "kube/wire/pending_text.hpp"

namespace kube::wire {

/// What a page says of the list as a whole (`ListMeta` of meta/v1).
struct ListMeta {
  std::string resource_version;
  std::string continue_token;  ///< "" on the last page
};

/// One object of a list; built-in kinds leave out apiVersion and kind.
struct ListItem {
  json::value tree;
  bool too_deep = false;  ///< nested deeper than max_object_depth, and without what lies there
};

/// One page of a list, whole.
struct ListPage : ListMeta {
  std::vector<json::value> items;  ///< those that are not too deep
};

/// Splits one page into its objects. Call feed() for each piece, then next() until it returns nothing, and finish() at
/// the end. No more than one object is held at a time. Use once; after a failure it is unusable.
class ListDecoder {
 public:
  /// Pages of more than `max_bytes` are refused. What waits and what is parsed is drawn on the account, if there is
  /// one.
  explicit ListDecoder(std::size_t max_bytes = 256u << 20, std::shared_ptr<MemoryAccount> account = nullptr)
      : pending_(std::move(account)), max_bytes_(max_bytes) {}

  /// Errors: Errc::too_large.
  Result<void> feed(std::string_view bytes);
  /// The next whole object; an empty optional when more bytes are needed. Errors: Errc::parse, Errc::too_large.
  Result<std::optional<ListItem>> next();
  /// Call when the body has ended. Errors: Errc::parse when it was cut short or is not a list.
  Result<ListMeta> finish();

 private:
  enum class Place { before, items, behind };
  /// Goes on outside of the items, until they begin or the text that has come ends.
  void scan_frame();
  void see_in_frame(char c);
  /// Goes on in the items, to the end of the next one. Nothing: the text that has come ends before.
  std::optional<std::size_t> find_end();
  /// Goes on after the string that is open; false: the text that has come ends in it.
  bool skip_string(std::string_view text);
  Result<std::optional<ListItem>> take(std::size_t end);

  PendingText pending_;     ///< in the items it begins with the one under way
  std::size_t at_ = 0;      ///< what comes before is known
  std::string frame_;       ///< the page without its items
  std::size_t string_ = 0;  ///< where the last string of the frame begins, after its quote
  std::size_t depth_ = 0;   ///< of the frame, or within an item
  Place place_ = Place::before;
  bool in_string_ = false, escaped_ = false;
  bool has_name_ = false;   ///< the frame ends with the name of the list's items, or with that and its colon
  bool has_items_ = false;  ///< one item at least has ended
  std::size_t received_ = 0, max_bytes_;
};

}  // namespace kube::wire
