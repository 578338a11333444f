#include "arena.hpp"

#include <algorithm>

namespace kube {
namespace {

constexpr std::size_t max_block = 4u << 20;
/// An arena that has given nothing yet, and the root of its tree: an empty object costs as much.
constexpr std::size_t own_bytes = 192;

}  // namespace

Arena::Arena(std::shared_ptr<MemoryAccount> account, std::size_t first_block, Arena*& self)
    : account_(std::move(account)), next_block_(first_block) {
  if (account_)
    if (const MemoryAccount* refuses = account_->try_take(own_bytes)) throw NothingLeft(refuses);
  self = this;
}

Arena::~Arena() {
  while (last_) {
    Block* const block = last_;
    const std::size_t bytes = block->bytes;
    last_ = block->before;
    ::operator delete(block, bytes);
    if (account_) account_->give_back(bytes);
  }
  if (account_) account_->give_back(own_bytes);
}

void* Arena::do_allocate(std::size_t bytes, std::size_t alignment) {
  void* at = free_;
  if (!std::align(alignment, bytes, at, left_)) {
    add_block(bytes + alignment);
    at = free_;
    std::align(alignment, bytes, at, left_);
  }
  free_ = static_cast<std::byte*>(at) + bytes;
  left_ -= bytes;
  return at;
}

void Arena::add_block(std::size_t least) {
  const std::size_t bytes = std::max(next_block_, least) + sizeof(Block);
  if (account_ && is_sealed_) account_->take(bytes);
  if (account_ && !is_sealed_)
    if (const MemoryAccount* refuses = account_->try_take(bytes)) throw NothingLeft(refuses);
  void* const memory = ::operator new(bytes);
  last_ = std::construct_at(static_cast<Block*>(memory), Block{last_, bytes});
  free_ = reinterpret_cast<std::byte*>(last_ + 1);
  left_ = bytes - sizeof(Block);
  next_block_ = std::min(std::max(next_block_, least) * 2, max_block);
}

void* Scratch::do_allocate(std::size_t bytes, std::size_t alignment) {
  if (account_)
    if (const MemoryAccount* refuses = account_->try_take(bytes)) throw NothingLeft(refuses);
  return ::operator new(bytes, std::align_val_t(alignment));
}

void Scratch::do_deallocate(void* at, std::size_t bytes, std::size_t alignment) noexcept {
  ::operator delete(at, bytes, std::align_val_t(alignment));
  if (account_) account_->give_back(bytes);
}

}  // namespace kube
