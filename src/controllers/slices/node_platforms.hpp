// The platform (architecture, system, features) of this cluster's machines, watched while there is a consumer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "core/slices/platform.hpp"
#include "kube/telemetry/log.hpp"

namespace liqo::controllers {

/// Watches nodes while it is switched on. One thread.
class NodePlatforms {
 public:
  /// `changed` is called when `common()` returns something else.
  NodePlatforms(Context context, std::function<void()> changed);

  /// Starts or ends the watch.
  void set_watching(bool wanted);
  /// The platform that consumers are shown; null while it is not known.
  const core::Platform* common() const { return common_ ? &*common_ : nullptr; }
  /// Whether the platform will be known in a moment, so that it is worth waiting for.
  bool is_coming() const;

 private:
  void take(const kube::Change& node);
  void notify();
  /// Logs which features consumers are not shown, once for each list of them.
  void log_left_out();

  Context context_;
  std::function<void()> changed_;
  core::Platforms platforms_;
  std::optional<core::Platform> common_;
  std::vector<std::string> left_out_;  ///< the features that were logged last
  kube::TimePoint since_{};            ///< when the watch began
  kube::InformerHandle nodes_;
  kube::Log log_{"node-platforms"};
};

}  // namespace liqo::controllers
