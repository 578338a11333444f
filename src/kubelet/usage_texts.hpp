// The figures of a virtual node as kubelets show them: text for Prometheus and metrics-server, and JSON. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/usage/node_usage.hpp"
#include "core/usage/pod_usage.hpp"
#include "kube/base/json.hpp"
#include "kubelet/routes.hpp"

namespace liqo::kubelet {

using namespace core::usage;

/// What GET /metrics/resource answers, piece by piece: pods and containers, then the node, by families.
class ResourceText {
 public:
  /// The look outlives it.
  ResourceText(const Look& look, const NodeReading& node) : look_(look), node_(node), pod_(look.begin()) {}
  /// The next piece, of some 32 KiB; "" = that was all.
  std::string next();

 private:
  void add_pod(std::string& text);
  void add_end(std::string& text) const;

  const Look& look_;
  NodeReading node_;
  std::size_t family_ = 0;
  Look::const_iterator pod_;
  bool has_told_family_ = false;  ///< its HELP and TYPE
  bool is_over_ = false;
};

/// What a path for Prometheus answers where no figures can be read: why, as a comment, in one line; and, where kubelets
/// have a metric that says so, that one.
std::string text_without_usage(Endpoint endpoint, std::string_view why);

/// The node in GET /stats/summary. `started`: RFC 3339; "" = not told.
kube::json::object node_statistics(std::string_view node, std::string_view started, const NodeReading& reading);
/// A pod in GET /stats/summary. What is not known is not there.
kube::json::object pod_statistics(const kube::Object& pod, const PodUsage& figures, const NodeUsage& node);

}  // namespace liqo::kubelet
