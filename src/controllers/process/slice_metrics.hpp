// Metrics of what slices of this cluster ask for and get.
// Tested by test/unit/controllers/process/slice_metrics_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/runtime/view.hpp"
#include "kube/telemetry/metrics.hpp"

namespace liqo::controllers {

/// Gauges of every slice by which this cluster asks a provider for resources. The quantities are parsed when the slice
/// changes, and not at each scrape. One thread.
class SliceMetrics {
 public:
  /// Shows no gauges at first.
  SliceMetrics(kube::InformerSet& home, kube::Metrics& metrics);
  /// Shows or hides the gauges from now on.
  void show(bool shown);
  /// How often the quantities of a slice were parsed so far.
  std::uint64_t reads() const { return reads_; }

 private:
  struct Amounts {
    std::string resource;
    std::optional<double> requested, granted;
    bool operator==(const Amounts&) const = default;
  };
  struct Usage {
    std::string cluster;
    bool is_accepted = false;
    std::vector<Amounts> amounts;
    bool operator==(const Usage&) const = default;
  };
  /// The quantities of a slice; nothing if it is not ours.
  std::optional<Usage> read(const kube::Object& slice);
  /// Updates the gauges of the slices of that name in all tenant namespaces: those for the same cluster share their
  /// series.
  void update(const std::string& name);
  void set(const kube::ObjectKey& key, const Usage& usage);

  struct Gauges {
    kube::GaugeSet requested, granted, accepted;
  };
  kube::Metrics& metrics_;
  std::uint64_t reads_ = 0;
  bool is_shown_ = false;
  std::map<kube::ObjectKey, Gauges> gauges_;
  kube::InformerHandle slices_;
  kube::View<std::optional<Usage>> usage_;
};

}  // namespace liqo::controllers
