// Writes that fail where their object has changed since the decision, and role bindings kept as they should be.
// Tested by test/unit/controllers/peering/authentication_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "kube/runtime/finalizer.hpp"
#include "kube/runtime/informer.hpp"

namespace liqo::controllers {

namespace asio = boost::asio;

/// A merge patch with UID and version of `live` as preconditions: the server answers 409 where it has another state.
std::string guarded_patch(const kube::Object& live, kube::json::object changes);

/// The object as `informer` has it now, with our own writes; `known` where it has another object of that name, or none.
kube::Object latest_of(const kube::Informer& informer, kube::Object known);

/// Makes a RoleBinding or ClusterRoleBinding what `wanted` is: creates it, repairs its subjects, or replaces it where
/// its role is another one, which cannot be changed in place. `informer` watches bindings of that kind.
asio::awaitable<kube::Result<void>> ensure_binding(kube::Api& api, kube::Informer& informer, kube::Object wanted);

}  // namespace liqo::controllers
