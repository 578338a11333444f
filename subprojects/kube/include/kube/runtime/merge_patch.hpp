// A change of an object that a cache holds.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "kube/client/api.hpp"
#include "kube/runtime/informer.hpp"

namespace kube {

/// Sends a merge patch for an object of `cache`, whose readers see the answer at once. Answers with what the object has
/// become, or with nothing where it is gone: then there is nothing left to change. Failures are told `phase` first.
asio::awaitable<Result<std::optional<Object>>> merge_patch(Api& api, Informer& cache, ObjectKey key, std::string patch,
                                                           std::string phase, WriteOptions options = {});

}  // namespace kube
