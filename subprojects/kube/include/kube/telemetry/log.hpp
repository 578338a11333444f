// Logging for operators: a constant message, and facts as key=value (text) or as fields (JSON).
// Tested by test/telemetry/log_test.cpp.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/failure.hpp"
#include "kube/k8s/resource.hpp"

namespace kube {

/// The severity of a line: configure_logging() leaves out lines below its level.
enum class LogLevel { debug, info, warn, error };
/// Lines for people, or one JSON object per line.
enum class LogFormat { text, json };

/// One fact of a log line. Values are escaped when written, so text from a peer may be given as it is. Never give data
/// of Secrets, tokens or keys.
struct Field {
  std::string_view key;
  std::string value;

  Field(std::string_view k, std::string v) : key(k), value(std::move(v)) {}
  Field(std::string_view k, std::string_view v) : key(k), value(v) {}
  Field(std::string_view k, const char* v) : key(k), value(v) {}
  Field(std::string_view k, const ObjectKey& v) : key(k), value(v.text()) {}
  Field(std::string_view k, const Failure& v) : key(k), value(v.text()) {}
  template <class Number>
    requires std::is_arithmetic_v<Number>
  Field(std::string_view k, Number v) : key(k), value(std::to_string(v)) {}
};

/// Sets level and format of the whole process; called once at start. Lines go to standard error.
void configure_logging(LogLevel level, LogFormat format);

/// A named logger with facts bound to it. Copied freely; bound facts travel in the copy, never in thread-locals. All
/// Logs of a process write to one sink without a lock: one thread.
class Log {
 public:
  explicit Log(std::string name) : name_(std::move(name)) {}
  /// The same logger with one more fact on every line.
  Log with(std::string_view key, std::string value) const;

  /// Somebody must act.
  void error(std::string_view message, std::initializer_list<Field> fields = {}) const;
  /// Degraded, and tried again.
  void warn(std::string_view message, std::initializer_list<Field> fields = {}) const;
  /// The state has changed.
  void info(std::string_view message, std::initializer_list<Field> fields = {}) const;
  /// Every step.
  void debug(std::string_view message, std::initializer_list<Field> fields = {}) const;

 private:
  void write(LogLevel level, std::string_view message, std::initializer_list<Field> fields) const;
  std::string name_;
  std::vector<std::pair<std::string, std::string>> bound_;
};

}  // namespace kube
