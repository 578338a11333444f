#include "kube/wire/list_decoder.hpp"

namespace kube::wire {
namespace {

json::parse_options options() {
  json::parse_options made;
  made.max_depth = 64;
  return made;
}

}  // namespace

ListDecoder::ListDecoder(std::size_t max_bytes) : parser_({}, options()), max_bytes_(max_bytes) {}

Result<void> ListDecoder::feed(std::string_view bytes) {
  received_ += bytes.size();
  if (received_ > max_bytes_)
    return fail(Errc::too_large, "a list page is longer than " + std::to_string(max_bytes_) + " bytes");
  boost::system::error_code failure;
  parser_.write(bytes.data(), bytes.size(), failure);
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
  if (items->is_array()) page.items = std::move(items->get_array());
  return page;
}

}  // namespace kube::wire
