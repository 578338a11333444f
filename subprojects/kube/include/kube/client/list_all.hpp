// A whole list, page by page.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "kube/client/api.hpp"

namespace kube {

/// Objects in a page of a list.
inline constexpr std::int64_t list_page_size = 500;

/// The objects of a resource in one namespace, or in all.
struct Collection {
  Resource resource;
  std::string ns;  ///< "" = all namespaces
};

/// Reads a list page by page (`options.limit` objects each, list_page_size if that is 0) and gives each object to
/// `take` as it arrives. `take` must not suspend; false = no more. What is no object with a name is left out, and so is
/// what is nested too deep (wire::ListItem), unless only metadata are asked for. All pages are of one state. Returns
/// the resource version of the list, "" if `take` had enough before that was known. Errors: those of Api::list_each(),
/// also if the server forgets that state before the last page (Failure::is_expired()).
asio::awaitable<Result<std::string>> list_all(Api& api, Collection collection, ListOptions options,
                                              std::function<bool(Object)> take);

}  // namespace kube
