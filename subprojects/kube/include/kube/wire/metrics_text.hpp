// The text in which Prometheus reads metrics (text/plain; version=0.0.4), line by line. Pure.
// Tested by test/wire/metric_samples_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kube::wire {

/// One label of a sample.
struct MetricLabel {
  std::string_view name;
  std::string_view value;  ///< escaped, as it is on the wire
};

/// One line with a number. All views look into the line that was parsed.
struct MetricSample {
  std::string_view name;
  std::vector<MetricLabel> labels;
  std::string_view value;      ///< a number, as it was written
  std::string_view timestamp;  ///< milliseconds since 1970, as written; empty if the line has none
};

/// A line `# TYPE name text` or `# HELP name text`.
struct MetricComment {
  bool is_type = false;
  std::string_view name;  ///< of the family
  std::string_view text;  ///< the type, or the help as it is escaped on the wire
};

/// A sample has at most this many labels.
inline constexpr std::size_t max_metric_labels = 64;

/// Reads one line. Nothing for comments, blank lines and whatever is not a sample: a malformed name or label, a
/// label that is given twice, more than max_metric_labels, text that is not UTF-8, a value that is no number.
std::optional<MetricSample> parse_metric_sample(std::string_view line);

/// Reads a line of TYPE or HELP; nothing for any other line. A type is one of the five that there are.
std::optional<MetricComment> parse_metric_comment(std::string_view line);

/// The value of a label, escaped as on the wire (see kube::escape_label()); empty if the sample has none of that name.
std::string_view label_of(const MetricSample& sample, std::string_view name);

/// The number of a sample's value; NaN and infinities are numbers, too. Nothing for other text.
std::optional<double> metric_number(std::string_view text);

/// The time of a sample in milliseconds since 1970; nothing if its line has none.
std::optional<std::int64_t> metric_time(const MetricSample& sample);

/// The sample as a line, with its line end.
std::string metric_line(const MetricSample& sample);

/// Splits a body that comes in pieces of any size into lines.
class MetricLines {
 public:
  /// A line longer than `max_line` bytes is dropped and counted; the lines after it are read.
  explicit MetricLines(std::size_t max_line = 64u << 10) : max_line_(max_line) {}

  /// The lines that end in this piece, without their line ends.
  std::vector<std::string> feed(std::string_view chunk);
  /// At the end of the body: its last line, if that has no line end. Nothing is fed afterwards.
  std::optional<std::string> finish();
  /// How many lines were too long.
  std::size_t dropped() const { return dropped_; }

 private:
  std::string rest_;  ///< the beginning of a line whose end is to come
  std::size_t max_line_;
  std::size_t dropped_ = 0;
  bool dropping_ = false;  ///< within a line that is too long
};

}  // namespace kube::wire
