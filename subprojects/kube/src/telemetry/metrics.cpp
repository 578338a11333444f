#include "kube/telemetry/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>

#include "kube/base/text.hpp"

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

/// An entry of a list for as long as this is held.
template <class State, class Entry>
std::shared_ptr<void> enlist(const std::shared_ptr<State>& state, std::list<Entry> State::* list, Entry entry) {
  auto& entries = (*state).*list;
  const auto at = entries.insert(entries.end(), std::move(entry));
  return {state.get(), [state, list, at](void*) { ((*state).*list).erase(at); }};
}

/// A series that goes with its handles. In the registry it would take a map of its labels, and removing it would take a
/// look at all others of its family.
struct PassingSeries {
  virtual ~PassingSeries() = default;
  virtual prometheus::ClientMetric collect() const = 0;
};

struct PassingFamily {
  const MetricFamily* family = nullptr;
  /// By the values of the labels, in the order of their names, each with a zero after it.
  std::map<std::string, std::weak_ptr<PassingSeries>> series;
};

std::string join_values(const Labels& labels) {
  std::string joined;
  for (const auto& [name, value] : labels) joined.append(value).push_back('\0');
  return joined;
}

void append_number(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
  } else {
    std::array<char, 32> digits{};
    const bool is_whole = std::abs(value) < 1e15 && value == std::floor(value);
    const auto [end, error] = is_whole ? std::to_chars(digits.begin(), digits.end(), std::int64_t(value))
                                       : std::to_chars(digits.begin(), digits.end(), value);
    out.append(digits.begin(), end);
  }
}

/// `a="1",b="2"`, by the values that join_values() made.
std::string describe_labels(const MetricFamily& family, std::string_view joined) {
  std::vector<std::string_view> names(family.labels.begin(), family.labels.begin() + family.label_count());
  std::ranges::sort(names);
  std::string text;
  for (const std::string_view name : names) {
    const std::string_view value = joined.substr(0, joined.find('\0'));
    joined.remove_prefix(value.size() + 1);
    if (!text.empty()) text += ',';
    text.append(name).append("=\"").append(escape_label(value)) += '"';
  }
  return text;
}

/// One line of a family's text.
struct Sample {
  std::string_view suffix;  ///< after the family's name
  std::string_view labels;  ///< of the series
  std::string_view own_label;
  double value;
};

void append_line(std::string& out, const MetricFamily& family, const Sample& sample) {
  const auto& [suffix, labels, own_label, value] = sample;
  out.append(family.name).append(suffix);
  if (!labels.empty() || !own_label.empty()) {
    out.append("{").append(labels).append(labels.empty() || own_label.empty() ? "" : ",").append(own_label) += '}';
  }
  out += ' ';
  append_number(out, value);
  out += '\n';
}

/// The text of a family (Prometheus' format 0.0.4). There are thousands of series: the registry's way, by a copy of
/// each label and a stream for each number, would keep the loop for too long.
void append_text(std::string& out, const PassingFamily& of) {
  const MetricFamily& family = *of.family;
  const bool is_counter = family.type == MetricType::counter, is_histogram = family.type == MetricType::histogram;
  out.append("# HELP ").append(family.name).append(" ").append(family.help).append("\n# TYPE ");
  out.append(family.name).append(is_counter ? " counter" : is_histogram ? " histogram" : " gauge") += '\n';
  for (const auto& [values, series] : of.series) {
    const auto held = series.lock();
    if (!held) continue;
    const std::string labels = describe_labels(family, values);
    const prometheus::ClientMetric metric = held->collect();
    if (!is_histogram) {
      append_line(out, family, {"", labels, "", is_counter ? metric.counter.value : metric.gauge.value});
      continue;
    }
    append_line(out, family, {"_count", labels, "", double(metric.histogram.sample_count)});
    append_line(out, family, {"_sum", labels, "", metric.histogram.sample_sum});
    for (const auto& bucket : metric.histogram.bucket) {
      std::string bound = "le=\"";
      append_number(bound, bucket.upper_bound);
      bound += '"';
      append_line(out, family, {"_bucket", labels, bound, double(bucket.cumulative_count)});
    }
  }
}

/// Takes itself from the list of its family, which `owner` holds.
template <class Metric>
struct Passing final : PassingSeries {
  template <class... Arguments>
  Passing(std::shared_ptr<void> owner, PassingFamily& family, std::string joined, Arguments&&... arguments)
      : metric(std::forward<Arguments>(arguments)...), state(std::move(owner)), of(family), values(std::move(joined)) {}
  ~Passing() override { of.series.erase(values); }
  prometheus::ClientMetric collect() const override { return metric.Collect(); }

  Metric metric;
  std::shared_ptr<void> state;
  PassingFamily& of;
  std::string values;
};

}  // namespace

/// Shared with the handles, which take their series away when they go.
struct Metrics::State {
  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Merge};
  std::map<std::string_view, PassingFamily> passing;  ///< by name
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
  using Metric = std::remove_pointer_t<decltype(Handle::series_)>;
  Handle handle;
  if (family.life == SeriesLife::process) {
    auto& series_of = builder.Name(std::string(family.name)).Help(std::string(family.help)).Register(state_->registry);
    handle.series_ = &series_of.Add(labels, std::move(arguments)...);
    return handle;
  }
  PassingFamily& of = state_->passing[family.name];
  of.family = &family;
  std::string values = join_values(labels);
  std::weak_ptr<PassingSeries>& known = of.series[values];
  auto series = std::static_pointer_cast<Passing<Metric>>(known.lock());
  if (!series) {
    series = std::make_shared<Passing<Metric>>(state_, of, std::move(values), std::move(arguments)...);
    known = series;
  }
  handle.series_ = &series->metric;
  handle.life_ = std::move(series);
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
  std::string text = prometheus::TextSerializer().Serialize(state_->registry.Collect());
  for (const auto& [name, of] : state_->passing)
    if (!of.series.empty()) append_text(text, of);
  return text;
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
