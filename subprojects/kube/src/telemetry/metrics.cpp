#include "kube/telemetry/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <cassert>

namespace kube {
namespace {

struct Sampled {
  Gauge gauge;
  const void* series;
  std::function<double()> value;
};

[[maybe_unused]] bool has_labels(const MetricFamily& family, const Labels& labels) {
  return labels.size() == family.label_count() && std::ranges::all_of(labels, [&](const auto& label) {
           return std::ranges::find(family.labels, label.first) != family.labels.end();
         });
}

/// An entry of a list for as long as somebody holds it.
template <class State, class Entry>
std::shared_ptr<void> enlist(const std::shared_ptr<State>& state, std::list<Entry> State::* list, Entry entry) {
  auto& entries = (*state).*list;
  const auto at = entries.insert(entries.end(), std::move(entry));
  return {state.get(), [state, list, at](void*) { ((*state).*list).erase(at); }};
}

}  // namespace

/// Shared with the handles, which take their series away when they go.
struct Metrics::State {
  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Merge};
  std::map<std::pair<std::string_view, Labels>, std::weak_ptr<void>> lives;
  std::list<Sampled> samples;
  std::list<std::function<void()>> refreshes;
};

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

Metrics::Metrics() : state_(std::make_shared<State>()) {}
Metrics::~Metrics() = default;

template <class Handle, class Builder, class... Arguments>
Handle Metrics::make(Builder builder, const MetricFamily& family, const Labels& labels, Arguments... arguments) {
  assert(has_labels(family, labels));
  auto& series_of = builder.Name(std::string(family.name)).Help(std::string(family.help)).Register(state_->registry);
  Handle handle;
  handle.series_ = &series_of.Add(labels, std::move(arguments)...);
  if (family.life == SeriesLife::process) return handle;
  std::weak_ptr<void>& life = state_->lives[{family.name, labels}];
  handle.life_ = life.lock();
  if (handle.life_) return handle;
  const std::pair<std::string_view, Labels> key{family.name, labels};
  handle.life_ = std::shared_ptr<void>(static_cast<void*>(handle.series_),
                                       [state = state_, &series_of, series = handle.series_, key](void*) {
                                         series_of.Remove(series);
                                         state->lives.erase(key);
                                       });
  life = handle.life_;
  return handle;
}

Counter Metrics::counter(const MetricFamily& family, const Labels& labels) {
  assert(family.type == MetricType::counter);
  return make<Counter>(prometheus::BuildCounter(), family, labels);
}
Gauge Metrics::gauge(const MetricFamily& family, const Labels& labels) {
  assert(family.type == MetricType::gauge);
  return make<Gauge>(prometheus::BuildGauge(), family, labels);
}
Histogram Metrics::histogram(const MetricFamily& family, const Labels& labels, const std::vector<double>& bounds) {
  assert(family.type == MetricType::histogram);
  return make<Histogram>(prometheus::BuildHistogram(), family, labels,
                         prometheus::Histogram::BucketBoundaries(bounds.begin(), bounds.end()));
}

Metrics::Reading Metrics::sample(const MetricFamily& family, const Labels& labels, std::function<double()> value) {
  Gauge shown = gauge(family, labels);
  const void* series = shown.series_;
  return enlist(state_, &State::samples, Sampled{std::move(shown), series, std::move(value)});
}

Metrics::Reading Metrics::on_scrape(std::function<void()> refresh) {
  return enlist(state_, &State::refreshes, std::move(refresh));
}

std::string Metrics::text() const {
  for (const auto& refresh : state_->refreshes) refresh();
  std::map<const void*, double> largest;
  for (Sampled& sample : state_->samples) {
    const double value = sample.value();
    const auto [known, is_new] = largest.try_emplace(sample.series, value);
    if (!is_new) known->second = std::max(known->second, value);
    sample.gauge.set(known->second);
  }
  return prometheus::TextSerializer().Serialize(state_->registry.Collect());
}

void GaugeSet::show(const std::map<Labels, double>& values) {
  std::erase_if(shown_, [&](const auto& series) { return !values.contains(series.first); });
  for (const auto& [labels, value] : values) {
    auto known = shown_.find(labels);
    if (known == shown_.end()) known = shown_.emplace(labels, metrics_.gauge(family_, labels)).first;
    known->second.set(value);
  }
}

const std::vector<double>& time_bounds() {
  static const std::vector<double> bounds{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60};
  return bounds;
}

}  // namespace kube
