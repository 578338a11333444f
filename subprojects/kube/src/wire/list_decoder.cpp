#include "kube/wire/list_decoder.hpp"

#include "deep_cut.hpp"

namespace kube::wire {
namespace {

/// The list itself and its items.
constexpr std::size_t list_levels = 2;

json::parse_options options() {
  json::parse_options made;
  made.max_depth = list_levels + max_object_depth;
  return made;
}

}  // namespace

ListDecoder::ListDecoder(std::size_t max_bytes)
    : parser_({}, options()), cut_(std::make_unique<DeepCut>(list_levels + max_object_depth)), max_bytes_(max_bytes) {}

ListDecoder::~ListDecoder() = default;

Result<void> ListDecoder::feed(std::string_view bytes) {
  received_ += bytes.size();
  if (received_ > max_bytes_)
    return fail(Errc::too_large, "a list page is longer than " + std::to_string(max_bytes_) + " bytes");
  boost::system::error_code failure;
  piece_.clear();
  cut_->feed(bytes, piece_);
  parser_.write(piece_.data(), piece_.size(), failure);
  if (failure) return fail(Errc::parse, "a list: " + failure.message());
  return {};
}

Result<ListPage> ListDecoder::finish() {
  boost::system::error_code failure;
  parser_.finish(failure);
  if (failure) return fail(Errc::parse, "a list: " + failure.message());
  json::value document = parser_.release();
  ListPage page;
  page.resource_version = string_at(document, {"metadata", "resourceVersion"});
  page.continue_token = string_at(document, {"metadata", "continue"});
  json::object* root = document.if_object();
  json::value* items = root ? root->if_contains("items") : nullptr;
  if (!items || !(items->is_array() || items->is_null())) return fail(Errc::parse, "a list without items");
  if (!items->is_array()) return page;
  if (cut_->cut_items().empty()) {
    page.items = std::move(items->get_array());
    return page;
  }
  std::size_t number = 0;
  for (json::value& item : items->get_array()) {
    const bool counts = item.is_object() || item.is_array();
    json::array& to = counts && cut_->cut_items().contains(number) ? page.too_deep : page.items;
    number += counts ? 1 : 0;
    to.push_back(std::move(item));
  }
  return page;
}

}  // namespace kube::wire
