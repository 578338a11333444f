// Which characters of a JSON text belong to its strings.
#pragma once

namespace kube::wire {

/// Follows a text character by character, for callers that look for brackets and commas outside of strings. The text is
/// not checked.
class StringScanner {
 public:
  /// Takes the next character; returns whether it belongs to a string, its quotes included.
  bool takes(char c) {
    if (!in_string_) return in_string_ = c == '"';
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
    }
    return true;
  }

 private:
  bool in_string_ = false, escaped_ = false;
};

}  // namespace kube::wire
