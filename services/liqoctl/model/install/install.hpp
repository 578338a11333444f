// The manifests that `liqoctl install` applies: those that `helm template` makes of the chart, and the namespace. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kube/k8s/resource.hpp"
#include "template/engine.hpp"

namespace liqoctl::model {

/// The path of a value for a part that does not exist here, and what is there instead.
struct WithoutEffect {
  std::string path, why;
};

/// The objects, in the order in which they can be applied.
struct Installation {
  std::vector<kube::json::value> manifests;
  std::vector<WithoutEffect> without_effect;
};

/// `files` are all files of the chart, `values` those of the user. Errors: Errc::invalid_input for values that cannot
/// be used, in words for the user; others for a chart that cannot be read.
kube::Result<Installation> installation(std::span<const chart::File> files, const kube::json::object& values,
                                        const std::string& ns);

/// Advice for a cluster that does not know this kind: what to install first, or which value avoids the kind. "" = it is
/// a kind of Kubernetes or of Liqo.
std::string install_first(const kube::Resource& kind);

/// The chart's own values. Fails if they cannot be read.
kube::Result<kube::json::object> default_values(std::span<const chart::File> files);

/// The CustomResourceDefinitions of the chart, which are the same for all values. Fails if one cannot be read.
kube::Result<std::vector<kube::json::value>> kinds_of_chart(std::span<const chart::File> files);

}  // namespace liqoctl::model
