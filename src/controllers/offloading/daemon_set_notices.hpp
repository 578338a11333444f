// Reports that pods of a DaemonSet run on virtual nodes.
// Tested by test/unit/controllers/offloading/daemon_set_notices_test.cpp.
#pragma once

#include <set>
#include <string>

#include "controllers/common/context.hpp"
#include "kube/k8s/object.hpp"
#include "kube/runtime/informer.hpp"

namespace liqo::controllers {

/// One Event on each DaemonSet of an offloaded namespace, when its first pod is about to be sent, and again after a
/// restart of liqod with the next one. None if the strategy of the namespace is Remote: its DaemonSets are meant to be
/// there. One thread.
class DaemonSetNotices {
 public:
  explicit DaemonSetNotices(Context context);

  /// Looks at a pod that is about to be sent.
  void see(const kube::Object& local);

 private:
  Context context_;
  kube::InformerHandle offloadings_;
  std::set<std::string, std::less<>> reported_;  ///< UIDs of DaemonSets
};

}  // namespace liqo::controllers
