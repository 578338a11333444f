// A whole list, page by page.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "kube/client/api.hpp"

namespace kube {

/// Objects in a page of a list: list_page_size at first. A page of more than max_page_bytes is asked for again with a
/// quarter of the objects, down to smallest_list_page; an object has 1.5 MiB at most, so that fits.
inline constexpr std::int64_t list_page_size = 500, smallest_list_page = 8;
inline constexpr std::size_t max_page_bytes = 32U << 20;
/// The most bytes of a list that does not come in pages.
inline constexpr std::size_t max_list_bytes = 256U << 20;

/// The objects of a resource in one namespace, or in all.
struct Collection {
  Resource resource;
  std::string ns;  ///< "" = all namespaces
};

/// Reads one page of `options.limit` objects, or the whole list if that is 0. A page of too many bytes is asked for
/// again with fewer objects; `options` then say so for the next page, too. Errors: those of Api::list();
/// Errc::too_large also if the smallest page has more bytes than max_page_bytes, or the whole list more than
/// max_list_bytes.
asio::awaitable<Result<wire::ListPage>> list_page(Api& api, Collection collection, ListOptions& options);

/// Reads a list page by page (`options.limit` objects each, list_page_size where it is 0) and gives each object to
/// `take`, which must not suspend; false = no more. A page of too many bytes is asked for again with fewer objects.
/// What is no object with a name is left out, and so is what is nested too deep (wire::ListPage), unless only metadata
/// are asked for. Returns the resource version of the list: all pages are of one state. Errors: those of Api::list(),
/// also where the server forgets that state before the last page (Failure::is_expired()).
asio::awaitable<Result<std::string>> list_all(Api& api, Collection collection, ListOptions options,
                                              std::function<bool(Object)> take);

}  // namespace kube
