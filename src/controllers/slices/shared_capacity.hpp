// What is free in this cluster, watched while somebody wants to know.
#pragma once

#include <functional>
#include <string>

#include "controllers/common/context.hpp"
#include "core/slices/inventory.hpp"

namespace liqo::controllers {

/// Watches nodes, pods and the consumers' namespaces while it is switched on. One thread.
class SharedCapacity {
 public:
  /// `changed` is called whenever what is free may have changed.
  SharedCapacity(Context context, std::function<void()> changed);

  /// Starts or ends the watches.
  void set_watching(bool wanted);
  /// True once everything has been counted.
  bool is_known() const;
  /// For that consumer; meaningful once it is known.
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
