#include "kube/telemetry/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace kube {

void Counter::add(double amount) {
  if (series_) series_->Increment(amount);
}
double Counter::value() const { return series_ ? series_->Value() : 0; }
void Gauge::set(double value) {
  if (series_) series_->Set(value);
}
void Gauge::add(double amount) {
  if (series_) series_->Increment(amount);
}
void Histogram::observe(double value) {
  if (series_) series_->Observe(value);
}

Metrics::Metrics() : registry_(std::make_unique<prometheus::Registry>(prometheus::Registry::InsertBehavior::Merge)) {}
Metrics::~Metrics() = default;

Counter Metrics::counter(const std::string& name, const std::string& help, const Labels& labels) {
  return Counter(&prometheus::BuildCounter().Name(name).Help(help).Register(*registry_).Add(labels));
}
Gauge Metrics::gauge(const std::string& name, const std::string& help, const Labels& labels) {
  return Gauge(&prometheus::BuildGauge().Name(name).Help(help).Register(*registry_).Add(labels));
}
Histogram Metrics::histogram(const std::string& name, const std::string& help, const Labels& labels,
                             const std::vector<double>& bounds) {
  return Histogram(&prometheus::BuildHistogram()
                        .Name(name)
                        .Help(help)
                        .Register(*registry_)
                        .Add(labels, prometheus::Histogram::BucketBoundaries(bounds.begin(), bounds.end())));
}

std::string Metrics::text() const { return prometheus::TextSerializer().Serialize(registry_->Collect()); }

const std::vector<double>& time_bounds() {
  static const std::vector<double> bounds{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60};
  return bounds;
}

}  // namespace kube
