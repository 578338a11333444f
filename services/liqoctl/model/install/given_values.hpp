// The values that an installation was given: recorded in the cluster, or read off what is there. Pure.
// Tested by test/unit/liqoctl/model/install/given_values_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// The Secret in Liqo's namespace that records them. It is a Secret, because values may hold credentials.
inline constexpr std::string_view given_values_secret = "liqo-given-values";

/// That Secret, with the labels and annotations of an object of the chart, so that it is deleted with these.
kube::Object forge_given_values(const kube::Object& of_chart, const std::string& ns, const kube::json::object& values);
/// Errors: those of a text that is no JSON object.
kube::Result<kube::json::object> read_given_values(const kube::Object& secret);

/// The values of an installation without a record, as its Deployment and the ConfigMap `liqo-sharing-policy` show them
/// (null = there is none). Only those that differ from the defaults, and without the ID.
kube::json::object shown_values(const kube::Object* deployment, const kube::Object* sharing_policy,
                                const kube::json::object& defaults);

/// The paths of all values in a tree, such as "image.repository", in order.
std::vector<std::string> paths_of(const kube::json::object& values);

}  // namespace liqoctl::model
