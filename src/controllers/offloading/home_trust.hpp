// The trust bundles (ClusterTrustBundles) of this cluster, as its pods elsewhere are to see them.
// Tested by test/unit/controllers/offloading/trust_copies_test.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "controllers/common/context.hpp"
#include "core/offloading/trust_bundles.hpp"

namespace liqo::controllers {

/// Watches the bundles from the first look() on, in the version of the API that the cluster serves. Whoever may not
/// read them, or has none, asks again after an hour. While they cannot be read, the last ones hold. One thread.
class HomeTrust {
 public:
  static constexpr std::chrono::hours refused_pause{1};

  /// `changed` is called when a bundle has changed, and must not suspend.
  HomeTrust(Context context, std::function<void()> changed) : context_(context), changed_(std::move(changed)) {}

  /// Whether the bundles are read; nothing = it is being found out.
  std::optional<bool> look();
  /// The same as of the last look(); lives as long as this.
  const bool& is_readable() const { return is_readable_; }
  /// Why they are not read, a clause.
  const std::string& why_not() const { return why_not_; }
  /// How often bundles have changed.
  std::uint64_t changes() const { return changes_; }
  /// What pods that ask for this are to see. Only while they are read.
  core::TrustTexts texts(const core::TrustSources& sources);

 private:
  void watch(const kube::Resource& version);
  void give_up(std::string why);
  void forget() {
    found_.clear();
    found_bytes_ = 0;
  }
  /// The certificates that a source leads to, "" = there is no such bundle.
  std::string find(const core::TrustSource& source);

  Context context_;
  std::function<void()> changed_;
  kube::InformerHandle bundles_;
  bool is_readable_ = false;
  std::uint64_t changes_ = 0;
  std::string why_not_;
  std::optional<kube::TimePoint> refused_at_;
  std::map<std::string, std::string> found_;  ///< by the key of the source, since the last change
  std::size_t found_bytes_ = 0;
};

}  // namespace liqo::controllers
