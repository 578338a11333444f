#include "kube/wire/metrics_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "kube/base/printable.hpp"
#include "kube/base/scalar.hpp"

namespace kube::wire {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

void skip_blanks(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

/// Takes a name off the front; empty if there is none. Only names of metrics have colons.
std::string_view take_name(std::string_view& text, bool colons) {
  const auto fits = [&](char c) { return begins_name(c) || (colons && c == ':'); };
  std::size_t length = 0;
  while (length < text.size() && (fits(text[length]) || (length > 0 && is_digit(text[length])))) ++length;
  const std::string_view name = text.substr(0, length);
  text.remove_prefix(length);
  return name;
}

/// Takes what comes before the next blank.
std::string_view take_word(std::string_view& text) {
  const auto length = std::size_t(std::ranges::find_if(text, is_blank) - text.begin());
  const std::string_view word = text.substr(0, length);
  text.remove_prefix(length);
  return word;
}

/// Takes the value of a label with its quotes; nothing if it does not end, or escapes what cannot be escaped.
std::optional<std::string_view> take_quoted(std::string_view& text) {
  if (text.empty() || text.front() != '"') return std::nullopt;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      const std::string_view value = text.substr(1, i - 1);
      text.remove_prefix(i + 1);
      return value;
    }
    if (text[i] != '\\') continue;
    ++i;
    if (i == text.size() || (text[i] != '\\' && text[i] != '"' && text[i] != 'n')) return std::nullopt;
  }
  return std::nullopt;
}

/// Takes `{name="value",…}`; a comma may follow the last label.
bool take_labels(std::string_view& text, std::vector<MetricLabel>& labels) {
  text.remove_prefix(1);
  while (true) {
    skip_blanks(text);
    if (!text.empty() && text.front() == '}') break;
    const std::string_view name = take_name(text, false);
    skip_blanks(text);
    if (name.empty() || text.empty() || text.front() != '=' || labels.size() == max_metric_labels) return false;
    if (std::ranges::find(labels, name, &MetricLabel::name) != labels.end()) return false;
    text.remove_prefix(1);
    skip_blanks(text);
    const auto value = take_quoted(text);
    if (!value) return false;
    labels.push_back({name, *value});
    skip_blanks(text);
    if (text.empty() || (text.front() != ',' && text.front() != '}')) return false;
    if (text.front() == ',') text.remove_prefix(1);
  }
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<MetricSample> parse_metric_sample(std::string_view line) {
  skip_blanks(line);
  if (line.empty() || line.front() == '#') return std::nullopt;
  MetricSample sample;
  sample.name = take_name(line, true);
  if (sample.name.empty()) return std::nullopt;
  skip_blanks(line);
  if (!line.empty() && line.front() == '{' && !take_labels(line, sample.labels)) return std::nullopt;
  if (!std::ranges::all_of(sample.labels, is_utf8, &MetricLabel::value)) return std::nullopt;
  skip_blanks(line);
  sample.value = take_word(line);
  if (!metric_number(sample.value)) return std::nullopt;
  skip_blanks(line);
  sample.timestamp = take_word(line);
  if (!sample.timestamp.empty() && !metric_time(sample)) return std::nullopt;
  skip_blanks(line);
  if (!line.empty()) return std::nullopt;
  return sample;
}

std::optional<MetricComment> parse_metric_comment(std::string_view line) {
  constexpr std::array<std::string_view, 5> types{"counter", "gauge", "histogram", "summary", "untyped"};
  skip_blanks(line);
  if (line.empty() || line.front() != '#') return std::nullopt;
  line.remove_prefix(1);
  skip_blanks(line);
  const std::string_view keyword = take_word(line);
  if (keyword != "TYPE" && keyword != "HELP") return std::nullopt;
  skip_blanks(line);
  MetricComment comment;
  comment.is_type = keyword == "TYPE";
  comment.name = take_name(line, true);
  if (comment.name.empty() || (!line.empty() && !is_blank(line.front()))) return std::nullopt;
  skip_blanks(line);
  while (comment.is_type && !line.empty() && is_blank(line.back())) line.remove_suffix(1);
  comment.text = line;
  if (comment.is_type ? std::ranges::find(types, line) == types.end() : !is_utf8(line)) return std::nullopt;
  return comment;
}

std::string_view label_of(const MetricSample& sample, std::string_view name) {
  const auto found = std::ranges::find(sample.labels, name, &MetricLabel::name);
  return found == sample.labels.end() ? std::string_view() : found->value;
}

std::optional<double> metric_number(std::string_view text) {
  // from_chars knows no plus sign, and reads "nan(text)".
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.back() == ')') return std::nullopt;
  return number;
}

std::optional<std::int64_t> metric_time(const MetricSample& sample) {
  return read_number<std::int64_t>(sample.timestamp);
}

std::string metric_line(const MetricSample& sample) {
  std::string line(sample.name);
  char separator = '{';
  for (const MetricLabel& label : sample.labels) {
    line += separator;
    line.append(label.name).append("=\"").append(label.value) += '"';
    separator = ',';
  }
  if (separator == ',') line += '}';
  line.append(" ").append(sample.value);
  if (!sample.timestamp.empty()) line.append(" ").append(sample.timestamp);
  return line += '\n';
}

std::vector<std::string> MetricLines::feed(std::string_view chunk) {
  std::vector<std::string> lines;
  while (!chunk.empty()) {
    const std::size_t end = chunk.find('\n');
    const std::string_view piece = chunk.substr(0, end);
    if (!dropping_ && piece.size() > max_line_ - rest_.size()) {
      dropping_ = true;
      ++dropped_;
      rest_.clear();
    }
    if (!dropping_) rest_.append(piece);
    if (end == std::string_view::npos) break;
    if (!dropping_) lines.push_back(std::exchange(rest_, {}));
    dropping_ = false;
    chunk.remove_prefix(end + 1);
  }
  return lines;
}

std::optional<std::string> MetricLines::finish() {
  if (rest_.empty()) return std::nullopt;
  return std::exchange(rest_, {});
}

}  // namespace kube::wire
