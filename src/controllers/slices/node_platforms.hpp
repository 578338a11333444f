// What kind of machines this cluster has for consumers, watched while there is one.
#pragma once

#include <functional>

#include "controllers/common/context.hpp"
#include "core/slices/platform.hpp"

namespace liqo::controllers {

/// Watches nodes while it is switched on. One thread.
class NodePlatforms {
 public:
  /// `changed` is called when `common()` has another answer.
  NodePlatforms(Context context, std::function<void()> changed);

  /// Starts or ends the watch.
  void set_watching(bool wanted);
  /// What consumers are told; null while it is not known.
  const core::Platform* common() const { return common_ ? &*common_ : nullptr; }
  /// Whether it will be known in a moment, so that it is worth waiting for.
  bool is_coming() const;

 private:
  void take(const kube::Change& node);
  void tell();

  Context context_;
  std::function<void()> changed_;
  core::Platforms platforms_;
  std::optional<core::Platform> common_;
  kube::TimePoint since_{};  ///< when the watch began
  kube::InformerHandle nodes_;
};

}  // namespace liqo::controllers
