// Finalizers of objects that a cache holds.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string_view>

#include "kube/client/api.hpp"
#include "kube/k8s/finalizer.hpp"
#include "kube/runtime/informer.hpp"

namespace kube {

/// Adds a finalizer. Nothing is sent if the object has it already, or is being deleted and takes none any more. Readers
/// of `cache` see the answer at once. An object that is gone is no failure.
asio::awaitable<Result<void>> add_finalizer(Api& api, Informer& cache, Object live, std::string_view finalizer);
/// Removes a finalizer. Nothing is sent if the object has none of that name. Readers of `cache` see the answer at once.
/// An object that is gone is no failure.
asio::awaitable<Result<void>> remove_finalizer(Api& api, Informer& cache, Object live, std::string_view finalizer);

}  // namespace kube
