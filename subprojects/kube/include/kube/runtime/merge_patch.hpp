// A change of an object that a cache holds.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "kube/client/api.hpp"
#include "kube/runtime/informer.hpp"

namespace kube {

/// A change, and what it is for.
struct MergePatch {
  std::string body;   ///< RFC 7386, or a strategic merge patch by `type`
  std::string phase;  ///< comes before the text of a failure, e.g. "writing the status"
  WriteOptions options = {};
  PatchType type = PatchType::merge;
};

/// Sends a merge patch for an object of `cache`, whose readers see the answer at once. Returns what the object has
/// become, or nothing if it is gone: then there is nothing left to change.
asio::awaitable<Result<std::optional<Object>>> merge_patch(Api& api, Informer& cache, ObjectKey key, MergePatch patch);

}  // namespace kube
