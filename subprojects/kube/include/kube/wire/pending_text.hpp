// Bytes of a body that wait for the rest of what they are a part of.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/memory_account.hpp"

namespace kube::wire {

/// A queue of bytes that are drawn on an account, if there is one, while they wait.
class PendingText {
 public:
  explicit PendingText(std::shared_ptr<MemoryAccount> account) : hold_(std::move(account)) {}

  /// Errors: Errc::too_large if the account has too little left.
  Result<void> append(std::string_view bytes);
  /// Takes away what comes first. Views of the text end here and in append().
  void drop(std::size_t bytes);
  std::string_view view() const { return std::string_view(text_).substr(dropped_); }
  const std::shared_ptr<MemoryAccount>& account() const { return hold_.account(); }

 private:
  std::string text_;
  std::size_t dropped_ = 0;
  MemoryHold hold_;
};

}  // namespace kube::wire
