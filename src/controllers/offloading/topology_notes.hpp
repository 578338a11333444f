// Notes on the Pods of consumers which topology keys of theirs no node of this cluster has.
// Tested by test/unit/controllers/offloading/topology_notes_test.cpp.
#pragma once

#include "controllers/common/context.hpp"
#include "core/offloading/node_label_keys.hpp"

namespace liqo::controllers {

/// Watches the labels of nodes from the first Pod on that wishes anything by them. One thread.
class TopologyNotes {
 public:
  explicit TopologyNotes(Context context) : context_(std::move(context)) {}
  TopologyNotes(TopologyNotes&&) = delete;

  /// Sets the annotation of a Pod that is about to be created. False: the nodes will be known in a moment. Nodes that
  /// cannot be listed hold up no Pod for longer than ten seconds in all, and nothing is noted then.
  bool note(kube::Object& pod);

 private:
  Context context_;
  core::NodeLabelKeys keys_;
  kube::TimePoint since_{};  ///< when the watch began
  kube::InformerHandle nodes_;
};

}  // namespace liqo::controllers
