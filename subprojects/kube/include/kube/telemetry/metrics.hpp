// The metrics of a process: families are made once, series are looked up once and kept by those who count.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace prometheus {
class Registry;
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace kube {

using Labels = std::map<std::string, std::string>;

/// A number that only grows. Copies count on the same series.
class Counter {
 public:
  Counter() = default;
  explicit Counter(prometheus::Counter* series) : series_(series) {}
  void add(double amount = 1);
  double value() const;

 private:
  prometheus::Counter* series_ = nullptr;
};

/// A number that goes up and down.
class Gauge {
 public:
  Gauge() = default;
  explicit Gauge(prometheus::Gauge* series) : series_(series) {}
  void set(double value);
  void add(double amount);

 private:
  prometheus::Gauge* series_ = nullptr;
};

/// A distribution, in seconds where it is a time.
class Histogram {
 public:
  Histogram() = default;
  explicit Histogram(prometheus::Histogram* series) : series_(series) {}
  void observe(double value);

 private:
  prometheus::Histogram* series_ = nullptr;
};

/// The registry of one process. Series made with equal name and labels are the same series. Labels must come from
/// bounded sets: never from names of objects or texts of peers.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  Counter counter(const std::string& name, const std::string& help, const Labels& labels = {});
  Gauge gauge(const std::string& name, const std::string& help, const Labels& labels = {});
  Histogram histogram(const std::string& name, const std::string& help, const Labels& labels,
                      const std::vector<double>& bounds);
  /// All series in Prometheus' text format.
  std::string text() const;

 private:
  std::unique_ptr<prometheus::Registry> registry_;
};

/// Bounds in seconds for times from 1 ms to a minute.
const std::vector<double>& time_bounds();

}  // namespace kube
