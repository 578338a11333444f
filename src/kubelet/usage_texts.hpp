// The usage of a virtual node in the formats of kubelets: text for Prometheus and metrics-server, and JSON. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/usage/node_usage.hpp"
#include "core/usage/pod_usage.hpp"
#include "kube/base/json.hpp"
#include "kubelet/routes.hpp"

namespace liqo::kubelet {

/// The answer to GET /metrics/resource, piece by piece: pods and containers, and then the node, by families.
class ResourceText {
 public:
  /// `by_pod` outlives it.
  ResourceText(const core::UsageByPod& by_pod, const core::NodeReading& node)
      : by_pod_(by_pod), node_(node), pod_(by_pod.begin()) {}
  /// The next piece, of about 32 KiB; "" = there are no more.
  std::string next();

 private:
  void add_pod(std::string& text);
  void add_end(std::string& text) const;

  const core::UsageByPod& by_pod_;
  core::NodeReading node_;
  std::size_t family_ = 0;
  core::UsageByPod::const_iterator pod_;
  bool has_family_head_ = false;  ///< HELP and TYPE of the present family were written
  bool is_over_ = false;
};

/// The answer of a path for Prometheus if no usage can be read: the reason as a comment of one line, and the metric by
/// which kubelets report that, if there is one.
std::string text_without_usage(Endpoint endpoint, std::string_view why);

/// The node in GET /stats/summary. `started`: RFC 3339; "" = not known.
kube::json::object node_statistics(std::string_view node, std::string_view started, const core::NodeReading& reading);
/// A pod in GET /stats/summary. Unknown values are left out.
kube::json::object pod_statistics(const kube::Object& pod, const core::PodUsage& usage, const core::NodeUsage& node);

}  // namespace liqo::kubelet
