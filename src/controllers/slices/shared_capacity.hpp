// The free capacity of this cluster, watched while a part of the process needs it.
#pragma once

#include <functional>
#include <string>

#include "controllers/common/context.hpp"
#include "core/slices/inventory.hpp"

namespace liqo::controllers {

/// Watches nodes, pods and the consumers' namespaces while it is switched on. One thread.
class SharedCapacity {
 public:
  /// `changed` is called whenever the free capacity may have changed.
  SharedCapacity(Context context, std::function<void()> changed);

  /// Starts or ends the watches.
  void set_watching(bool wanted);
  /// True once everything has been counted.
  bool is_known() const;
  /// The capacity that is free for that consumer; meaningful once is_known().
  core::Resources free_for(std::string_view consumer) const { return inventory_.free_for(consumer); }

 private:
  void take_node(const kube::Change& node);
  void take_pod(const kube::Change& pod);
  void take_namespace(const kube::Change& ns);

  Context context_;
  std::function<void()> changed_;
  core::Inventory inventory_;
  kube::InformerHandle nodes_, pods_, namespaces_;
};

}  // namespace liqo::controllers
