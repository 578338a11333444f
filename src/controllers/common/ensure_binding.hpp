// Keeps role bindings as they are wanted.
// Tested by test/unit/controllers/peering/tenant_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>

#include "core/common/binding_plan.hpp"
#include "kube/runtime/informer.hpp"

namespace liqo::controllers {

namespace asio = boost::asio;

/// Decides what is to be done about a binding of the wanted name, which may be null. Pure.
using PlanBinding = std::function<core::BindingPlan(const kube::Object* existing)>;

/// Makes a RoleBinding or ClusterRoleBinding what `wanted` is: creates it, repairs it, or replaces it if it has another
/// role, which cannot be changed in place. `informer` watches bindings of that kind. `plan` decides about a binding
/// that is there; without one it is core::plan_binding. Errors: Errc::invalid_input if the plan refuses.
asio::awaitable<kube::Result<void>> ensure_binding(kube::Api& api, kube::Informer& informer, kube::Object wanted,
                                                   PlanBinding plan = {});

}  // namespace liqo::controllers
