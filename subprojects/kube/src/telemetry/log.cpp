#include "kube/telemetry/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>

#include "kube/base/hex.hpp"
#include "kube/base/json.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/time.hpp"

namespace kube {
namespace {

// Each cluster may have a loop and a thread of its own, and all of them write one log.
std::atomic<LogFormat> chosen_format = LogFormat::text;

spdlog::logger& sink() {
  static const auto logger = [] {
    auto made = spdlog::stderr_logger_mt("kube");
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %L %v", spdlog::pattern_time_type::utc);
    made->set_level(spdlog::level::info);
    return made;
  }();
  return *logger;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warn:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warn:
      return "warn";
    case LogLevel::error:
      return "error";
  }
  return "info";
}

/// JSON text without the characters that a terminal acts on: those that JSON leaves as they are become \u escapes, and
/// bytes that are no UTF-8 become question marks.
std::string without_acting(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const CodePoint next = first_code_point(text);
    if (!next.valid) {
      out += '?';
    } else if (!acts_on_terminals(next.value)) {
      out += text.substr(0, next.size);
    } else if (next.value < 0x10000) {
      out += "\\u" + hex(next.value, 4);
    } else {
      const std::uint32_t rest = next.value - 0x10000;
      out += "\\u" + hex(0xD800 + (rest >> 10), 4) + "\\u" + hex(0xDC00 + (rest & 0x3FF), 4);
    }
    text.remove_prefix(next.size);
  }
  return out;
}

std::string as_json(const json::value& value) {
  std::string text = json::serialize(value);
  return acts_on_terminals(text) ? without_acting(text) : text;
}

/// Quotes a value if a reader could not see its end, or if a terminal would act on it.
std::string quoted(std::string_view value) {
  const bool plain =
      !value.empty() && value.find_first_of(" \"=\\") == std::string_view::npos && !acts_on_terminals(value);
  return plain ? std::string(value) : as_json(json::string(value));
}

struct LogLine {
  LogLevel level;
  std::string_view logger, message;
  std::vector<std::pair<std::string, std::string>> fields;
};

std::string format_line(LogFormat format, const LogLine& line) {
  if (format == LogFormat::json) {
    json::object written{{"level", name_of(line.level)}, {"logger", line.logger}, {"msg", line.message}};
    for (const auto& [key, value] : line.fields) written[key] = value;
    return as_json(written);
  }
  std::string written(line.logger);
  written.append(": ").append(line.message);
  for (const auto& [key, value] : line.fields) written.append(" ").append(key).append("=").append(quoted(value));
  return written;
}

}  // namespace

void configure_logging(LogLevel level, LogFormat format) {
  chosen_format = format;
  sink().set_level(to_spdlog(level));
  if (format == LogFormat::json) sink().set_pattern("%v");
}

Log Log::with(std::string_view key, std::string value) const {
  Log copy = *this;
  copy.bound_.emplace_back(key, std::move(value));
  return copy;
}

void Log::write(LogLevel level, std::string_view message, std::initializer_list<Field> fields) const {
  if (!sink().should_log(to_spdlog(level))) return;
  auto all = bound_;
  for (const Field& field : fields) all.emplace_back(field.key, field.value);
  const LogFormat format = chosen_format;
  std::string line = format_line(format, {level, name_, message, std::move(all)});
  if (format == LogFormat::json) {
    const auto now = std::chrono::time_point_cast<WallTime::duration>(std::chrono::system_clock::now());
    line.insert(1, "\"ts\":\"" + format_micro_time(now) + "\",");
  }
  sink().log(to_spdlog(level), "{}", line);
}

void Log::error(std::string_view message, std::initializer_list<Field> fields) const {
  write(LogLevel::error, message, fields);
}
void Log::warn(std::string_view message, std::initializer_list<Field> fields) const {
  write(LogLevel::warn, message, fields);
}
void Log::info(std::string_view message, std::initializer_list<Field> fields) const {
  write(LogLevel::info, message, fields);
}
void Log::debug(std::string_view message, std::initializer_list<Field> fields) const {
  write(LogLevel::debug, message, fields);
}

}  // namespace kube
