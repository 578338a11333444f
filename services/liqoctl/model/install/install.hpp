// What `liqoctl install` puts into a cluster: what `helm template` makes of the chart, and the namespace. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kube/k8s/resource.hpp"
#include "template/engine.hpp"

namespace liqoctl::model {

/// The path of a value that is for a part which does not exist here, and what is there instead.
struct WithoutEffect {
  std::string path, why;
};

/// The objects, in the order in which they can be applied.
struct Installation {
  std::vector<kube::json::value> manifests;
  std::vector<WithoutEffect> without_effect;
};

/// `files` are all files of the chart, `values` what the user gives. Errors: Errc::invalid_input: values that cannot be
/// used, in words for the user; others for a chart that cannot be read.
kube::Result<Installation> installation(std::span<const chart::File> files, const kube::json::object& values,
                                        const std::string& ns);

/// What is to be installed first where a cluster does not know this kind, or which value does without it; "" = it is
/// Kubernetes' or Liqo's own.
std::string install_first(const kube::Resource& kind);

/// The chart's own values. Fails where they cannot be read.
kube::Result<kube::json::object> default_values(std::span<const chart::File> files);

/// The CustomResourceDefinitions of the chart, which are the same for all values. Fails where one cannot be read.
kube::Result<std::vector<kube::json::value>> kinds_of_chart(std::span<const chart::File> files);

}  // namespace liqoctl::model
