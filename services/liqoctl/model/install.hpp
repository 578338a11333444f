// What `liqoctl install --print` prints: the chart's kinds and roles, and the objects around them, for one cluster.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// Puts "a.b.c=value" into a tree of values, as Helm's --set does: null, booleans and whole numbers are such, `\.` is a
/// dot inside a name, several are separated by commas. Errors: Errc::invalid_input.
kube::Result<void> set_value(kube::json::object& values, std::string_view assignment, bool as_string = false);
/// Puts one tree of values over another: objects are merged, all else is replaced.
void overlay(kube::json::object& values, const kube::json::object& over);

/// The manifests, in the order in which they can be applied.
struct Installation {
  std::vector<kube::json::value> manifests;
  std::vector<std::string> unknown;  ///< keys of the values that have no effect
};
/// `chart` are the documents of the chart's crds/ and files/. Errors: Errc::invalid_input: a value that cannot be used,
/// or a cluster ID that is missing.
kube::Result<Installation> installation(const std::vector<kube::json::value>& chart, const kube::json::object& values,
                                        const std::string& ns, bool deployment);

}  // namespace liqoctl::model
