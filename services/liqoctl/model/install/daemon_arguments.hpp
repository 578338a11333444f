// The arguments of the daemon's Deployment, and the values that they show. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "kube/base/json.hpp"
#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// Empty if there is no Deployment.
std::vector<std::string_view> arguments_of(const kube::Object* deployment);

/// The rest of the first argument that begins with `name`, such as "--cluster-id="; "" = there is none.
std::string_view argument(const kube::Object* deployment, std::string_view name);

bool has_argument(const kube::Object* deployment, std::string_view word);

/// Whether consumers can read the resource usage of their pods.
bool has_metric_agent(const kube::Object* deployment);

/// Values with which the chart makes the roles for a daemon with these arguments, with or without a Deployment. They
/// lack offloading.tenantClusterRoles, which no argument shows.
kube::json::object values_of_rights(const kube::Object* deployment);

}  // namespace liqoctl::model
