// Finalizers of objects that a cache holds.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string_view>

#include "kube/client/api.hpp"
#include "kube/k8s/finalizer.hpp"
#include "kube/runtime/informer.hpp"

namespace kube {

/// Adds or removes a finalizer; nothing is sent where it is so already, or where the object is being deleted and takes
/// none any more. Readers of `informer` see the answer at once. An object that is gone is no failure.
asio::awaitable<Result<void>> set_finalizer(Api& api, Informer& informer, Object live, std::string_view finalizer,
                                            bool wanted);

}  // namespace kube
