// Watches this cluster's own addresses, once they are needed.
// Tested by test/unit/controllers/reflection/shadow_endpoint_slice_test.cpp.
#pragma once

#include <functional>

#include "controllers/common/context.hpp"
#include "core/addresses/own_addresses.hpp"

namespace liqo::controllers {

/// Watches Pods, Services, Nodes and ServiceCIDRs once it is started, and keeps only the fields with addresses. Virtual
/// nodes, and pods on them, are left out: their addresses belong to other clusters. One thread.
class OwnAddressWatch {
 public:
  using Handler = std::function<void(const core::OwnAddresses::Change&)>;
  /// `changed` is called with every change of the addresses.
  OwnAddressWatch(Context context, Handler changed);

  /// Begins to watch, unless it does already. The watch never ends, or a consumer could cause repeated lists.
  void start();
  /// True once all addresses have been read.
  bool is_known() const;
  /// Meaningful once it is known.
  const core::OwnAddresses& all() const { return all_; }

 private:
  using Read = core::HeldAddresses (*)(const kube::Object*);
  void watch(kube::InformerHandle& handle, const kube::InformerScope& scope, Read read);

  Context context_;
  Handler changed_;
  core::OwnAddresses all_;
  kube::InformerHandle pods_, services_, nodes_, service_cidrs_;
};

}  // namespace liqo::controllers
