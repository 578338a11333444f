// The content of objects that were listed and have not been looked at yet.
// Tested by test/unit/reflector/copies_test.cpp.
#pragma once

#include <map>
#include <string>

namespace liqo::reflector {

/// Holds JSON text by name, as long as all that share a total hold no more than max_bytes together. What does not fit
/// is read one by one when it is needed.
class Contents {
 public:
  static constexpr std::size_t max_bytes = 32u << 20;

  /// `total`, which outlives it: the bytes that are held by all.
  explicit Contents(std::size_t& total) : total_(total) {}
  ~Contents() { clear(); }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  void put(const std::string& name, std::string text) {
    erase(name);
    if (total_ + text.size() > max_bytes) return;
    total_ += text.size();
    texts_[name] = std::move(text);
  }
  /// Hands out the text; "" = it is not held.
  std::string take(const std::string& name) {
    const auto found = texts_.find(name);
    if (found == texts_.end()) return {};
    std::string text = std::move(found->second);
    total_ -= text.size();
    texts_.erase(found);
    return text;
  }
  void erase(const std::string& name) { take(name); }
  void clear() {
    for (const auto& [name, text] : texts_) total_ -= text.size();
    texts_.clear();
  }

 private:
  std::size_t& total_;
  std::map<std::string, std::string> texts_;
};

}  // namespace liqo::reflector
