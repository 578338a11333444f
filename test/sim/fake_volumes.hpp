// Acts as Kubernetes and its provisioners do on claims, in a simulated cluster.
#pragma once

#include <string>

#include "cluster.hpp"

namespace liqo::sim {

/// Gives a claim of each class but "liqo" a volume a moment later, and lets it grow; binds a claim of class liqo to the
/// volume that is made for it. A volume whose claim is gone is released. Must live as long as the simulator runs.
class FakeVolumes {
 public:
  FakeVolumes(kube::testing::Simulator& simulator, Cluster& cluster, std::uint64_t seed);

 private:
  void seen(const kube::testing::FakeChange& change);
  void attend_later(const kube::ObjectKey& claim);
  void attend(const kube::ObjectKey& claim);
  void bind(const json::object& claim, const std::string& volume);
  void release(std::string_view claim_uid);

  kube::testing::Simulator& simulator_;
  kube::testing::FakeApiServer& server_;
  kube::Random random_;
};

}  // namespace liqo::sim
