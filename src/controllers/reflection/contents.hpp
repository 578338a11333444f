// Holds the content of objects that were listed and have not been worked on yet.
// Tested by test/unit/controllers/reflection/copies_test.cpp.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "kube/base/memory_account.hpp"

namespace liqo::controllers {

/// Holds JSON text by name, as long as all Contents with the same total hold no more than max_bytes together. The text
/// of a peer is charged to its account, of which one half is left for reading. Objects that do not fit are read one by
/// one when they are needed.
class Contents {
 public:
  static constexpr std::size_t max_bytes = 32u << 20;

  /// `total`, which outlives it: the bytes that all of them hold.
  explicit Contents(std::size_t& total, std::shared_ptr<kube::MemoryAccount> account = nullptr)
      : total_(total), account_(std::move(account)) {}
  ~Contents() { clear(); }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  void put(const std::string& name, std::string text) {
    erase(name);
    if (total_ + text.size() > max_bytes) return;
    kube::MemoryHold hold(account_);
    if (account_ && (account_->held() + text.size() > account_->limit() / 2 || !hold.grow(text.size()))) return;
    total_ += text.size();
    texts_.insert_or_assign(name, Text{std::move(text), std::move(hold)});
  }
  /// Moves the text out; "" = it is not held.
  std::string take(const std::string& name) {
    const auto found = texts_.find(name);
    if (found == texts_.end()) return {};
    std::string text = std::move(found->second.text);
    total_ -= text.size();
    texts_.erase(found);
    return text;
  }
  void erase(const std::string& name) { take(name); }
  void clear() {
    for (const auto& [name, held] : texts_) total_ -= held.text.size();
    texts_.clear();
  }

 private:
  struct Text {
    std::string text;
    kube::MemoryHold hold;
  };
  std::size_t& total_;
  std::shared_ptr<kube::MemoryAccount> account_;
  std::map<std::string, Text> texts_;
};

}  // namespace liqo::controllers
