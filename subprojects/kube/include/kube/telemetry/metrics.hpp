// The metrics of a process: families are declared, series are looked up once and kept by those who count.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace kube {

using Labels = std::map<std::string, std::string>;

enum class MetricType : std::uint8_t { counter, gauge, histogram };
/// How long a series lives: as long as the process, or as long as there is a handle of it, for series that name an
/// object or a peer.
enum class SeriesLife : std::uint8_t { process, handles };

/// What all series of one name have in common: what is served under that name, and what its documentation says. It has
/// to outlive everything that counts by it. Asserts check that type and labels are those of the family.
struct MetricFamily {
  MetricType type;
  std::string_view name, help;
  std::array<std::string_view, 4> labels{};  ///< the names that each series gives values to; "" = no more
  SeriesLife life = SeriesLife::process;

  constexpr std::size_t label_count() const {
    std::size_t count = 0;
    while (count < labels.size() && !labels[count].empty()) ++count;
    return count;
  }
};

/// A number that only grows. Copies count on the same series.
class Counter {
 public:
  Counter() = default;
  void add(double amount = 1);
  double value() const;

 private:
  friend class Metrics;
  prometheus::Counter* series_ = nullptr;
  std::shared_ptr<void> life_;
};

/// A number that goes up and down.
class Gauge {
 public:
  Gauge() = default;
  void set(double value);
  void add(double amount);

 private:
  friend class Metrics;
  prometheus::Gauge* series_ = nullptr;
  std::shared_ptr<void> life_;
};

/// A distribution, in seconds if it is a time.
class Histogram {
 public:
  Histogram() = default;
  void observe(double value);

 private:
  friend class Metrics;
  prometheus::Histogram* series_ = nullptr;
  std::shared_ptr<void> life_;
};

/// The registry of one process. Series made with equal family and labels are the same series. Label values must come
/// from bounded sets: closed ones, or objects of which there is a bounded number; never from texts of peers. One
/// thread.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  /// A series of a family of that type. `labels` has a value for each label of the family, and no other. The series
  /// stays until the last copy of its handle has gone if the family says so (SeriesLife::handles), else as long as the
  /// registry.
  Counter counter(const MetricFamily& family, const Labels& labels = {});
  Gauge gauge(const MetricFamily& family, const Labels& labels = {});
  /// `bounds`: the upper bounds of the buckets, in ascending order, without +Inf.
  Histogram histogram(const MetricFamily& family, const Labels& labels, const std::vector<double>& bounds);

  /// What is looked up at each scrape. It ends with the last copy of what `sample` and `on_scrape` return.
  using Reading = std::shared_ptr<void>;
  /// A gauge that is asked at each scrape. If several have equal labels, the largest value is shown.
  [[nodiscard]] Reading sample(const MetricFamily& family, const Labels& labels, std::function<double()> value);
  /// Called before each scrape, to bring series up to date.
  [[nodiscard]] Reading on_scrape(std::function<void()> refresh);

  /// All series in Prometheus' text format.
  std::string text() const;

 private:
  struct State;
  template <class Handle, class Builder, class... Arguments>
  Handle make(Builder builder, const MetricFamily& family, const Labels& labels, Arguments... arguments);
  std::shared_ptr<State> state_;
};

/// The gauges of one family whose series are all known at one moment, such as one for each object of a kind.
class GaugeSet {
 public:
  GaugeSet(Metrics& metrics, const MetricFamily& family) : metrics_(metrics), family_(family) {}
  /// Shows exactly these from now on.
  void show(const std::map<Labels, double>& values);

 private:
  Metrics& metrics_;
  const MetricFamily& family_;
  std::map<Labels, Gauge> shown_;
};

/// Bounds in seconds for times from 1 ms to a minute.
const std::vector<double>& time_bounds();

}  // namespace kube
