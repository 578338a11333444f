#include "kube/base/memory_account.hpp"

namespace kube {

const std::shared_ptr<MemoryAccount>& MemoryAccount::of_process() {
  static const auto account = std::make_shared<MemoryAccount>("all API servers together", default_limit, nullptr);
  return account;
}

const MemoryAccount* MemoryAccount::try_take(std::size_t bytes) noexcept {
  const std::size_t before = held_.fetch_add(bytes, std::memory_order_relaxed);
  const std::size_t most = limit();
  const MemoryAccount* refuses = before > most || bytes > most - before ? this : nullptr;
  if (!refuses && whole_) {
    refuses = whole_->try_take(bytes);
    if (refuses && before + bytes <= floor()) {
      whole_->take(bytes);
      refuses = nullptr;
    }
  }
  if (refuses) held_.fetch_sub(bytes, std::memory_order_relaxed);
  return refuses;
}

void MemoryAccount::take(std::size_t bytes) noexcept {
  for (MemoryAccount* each = this; each; each = each->whole_.get())
    each->held_.fetch_add(bytes, std::memory_order_relaxed);
}

void MemoryAccount::give_back(std::size_t bytes) noexcept {
  for (MemoryAccount* each = this; each; each = each->whole_.get())
    each->held_.fetch_sub(bytes, std::memory_order_relaxed);
}

Failure MemoryAccount::refusal() const {
  return {Errc::too_large, "an answer takes more memory than is left for what is read of " + peer_ + ": " +
                               std::to_string(held() >> 20) + " of " + std::to_string(limit() >> 20) +
                               " MiB are in use"};
}

Result<void> MemoryHold::grow(std::size_t bytes) {
  if (!account_ || bytes <= bytes_) return {};
  if (const MemoryAccount* refuses = account_->try_take(bytes - bytes_)) return std::unexpected(refuses->refusal());
  bytes_ = bytes;
  return {};
}

void MemoryHold::shrink(std::size_t bytes) noexcept {
  if (!account_ || bytes >= bytes_) return;
  account_->give_back(bytes_ - bytes);
  bytes_ = bytes;
}

}  // namespace kube
