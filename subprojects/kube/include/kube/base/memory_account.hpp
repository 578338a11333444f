// How much memory the answers of a server may take, and those of all servers together.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "kube/base/failure.hpp"

namespace kube {

/// What the answers of one peer hold in memory: texts that are being read, and the trees that are made of them, until
/// the last part of a tree is gone. A few bytes of text may become a tree of many times their size, so it is memory
/// that is bounded, and not text. An account may be a part of another one, which bounds several peers together; then it
/// may have a floor, which the others cannot use up.
///
/// Guarantees: while a text is parsed the limit is kept. A tree that has been parsed may be changed whatever its
/// account holds. A copy of an Object has memory of its own, which is not counted, and so has what a Store gives out.
///
/// Lifetime: shared by all that draws on it, so it may live longer than the Api that reads. Threads may share it.
class MemoryAccount {
 public:
  /// `peer`: whose answers they are, as failures name it, e.g. "cluster milan". A null `whole`: it is no part of
  /// another one.
  MemoryAccount(std::string peer, std::size_t limit, std::shared_ptr<MemoryAccount> whole = of_process())
      : peer_(std::move(peer)), limit_(limit), whole_(std::move(whole)) {}

  /// The account of all API servers that this process reads. A program whose memory is limited gives it a part of that
  /// (set_limit()).
  static const std::shared_ptr<MemoryAccount>& of_process();
  static constexpr std::size_t default_limit = 512u << 20;

  /// Takes so many bytes if they are left, and returns null. Otherwise returns the account that has too little left:
  /// this one, or one that it is a part of.
  [[nodiscard]] const MemoryAccount* try_take(std::size_t bytes) noexcept;
  /// Takes them in any case.
  void take(std::size_t bytes) noexcept;
  void give_back(std::size_t bytes) noexcept;

  std::size_t held() const { return held_.load(std::memory_order_relaxed); }
  std::size_t limit() const { return limit_.load(std::memory_order_relaxed); }
  void set_limit(std::size_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
  /// The account may take so much whatever the other parts of the whole hold, if need be beyond the limit of the whole.
  void set_floor(std::size_t bytes) { floor_.store(bytes, std::memory_order_relaxed); }
  std::size_t floor() const { return floor_.load(std::memory_order_relaxed); }
  /// Errc::too_large: an answer needed more than was left.
  Failure refusal() const;

 private:
  std::string peer_;
  std::atomic<std::size_t> held_ = 0, limit_, floor_ = 0;
  std::shared_ptr<MemoryAccount> whole_;
};

/// So many bytes of an account, until it ends. Without an account it holds nothing.
class MemoryHold {
 public:
  explicit MemoryHold(std::shared_ptr<MemoryAccount> account = nullptr) : account_(std::move(account)) {}
  ~MemoryHold() { shrink(0); }
  MemoryHold(MemoryHold&& other) noexcept
      : account_(std::move(other.account_)), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryHold& operator=(MemoryHold&& other) noexcept {
    std::swap(account_, other.account_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  /// Holds so many bytes from now on. Errors: those of MemoryAccount::refusal(); it holds what it held before then.
  Result<void> grow(std::size_t bytes);
  void shrink(std::size_t bytes) noexcept;
  const std::shared_ptr<MemoryAccount>& account() const { return account_; }

 private:
  std::shared_ptr<MemoryAccount> account_;
  std::size_t bytes_ = 0;
};

}  // namespace kube
