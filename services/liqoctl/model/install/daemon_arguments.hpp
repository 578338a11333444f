// The arguments of the daemon's Deployment, and what they tell of the values that it was installed with. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "kube/base/json.hpp"
#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// None where there is no Deployment.
std::vector<std::string_view> arguments_of(const kube::Object* deployment);

/// What follows the first argument that begins with `name`, such as "--cluster-id="; "" = there is none.
std::string_view argument(const kube::Object* deployment, std::string_view name);

bool has_argument(const kube::Object* deployment, std::string_view word);

/// Whether consumers are told the figures of their pods.
bool has_metric_agent(const kube::Object* deployment);

/// Values with which the chart makes the roles that a daemon with these arguments needs, with or without a Deployment.
/// They do not tell offloading.tenantClusterRoles, of which no argument speaks.
kube::json::object values_of_rights(const kube::Object* deployment);

}  // namespace liqoctl::model
