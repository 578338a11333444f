// Twins that home wants and has had, and that are missing or going by the status of the replica of their NamespaceMap.
// Pure.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"
#include "liqo/api/namespace_map.hpp"

namespace liqo::core {

/// How long a twin counts as troubled, and not as gone. The time begins when the replica was last seen without the wish
/// for it, or began to lack the answer. A restored provider creates the twin again, and then the pods at home go on.
inline constexpr kube::Duration missing_patience = std::chrono::minutes(5);

/// Remembers since when which twins are missing. Losing it (restart) is harmless: the time starts again. One thread.
class MissingTwins {
 public:
  /// Takes in the map at home and its replica as they are now.
  void observe(const kube::Object& local, const kube::Object& remote, kube::TimePoint now);
  /// The twins that count as troubled.
  std::vector<api::WantedNamespace> troubled(kube::TimePoint now) const;
  /// When the next of them counts as gone; nothing if none is troubled.
  std::optional<kube::Duration> left(kube::TimePoint now) const;

 private:
  struct Missing {
    std::string remote;
    kube::TimePoint since;
  };
  std::map<std::string, Missing, std::less<>> missing_;  ///< by local namespace
};

}  // namespace liqo::core
