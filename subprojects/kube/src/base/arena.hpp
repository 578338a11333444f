// Memory for the tree of one document, drawn on an account.
#pragma once

#include <boost/json/memory_resource.hpp>
#include <memory>
#include <new>

#include "kube/base/memory_account.hpp"

namespace kube {

/// Thrown if a parser asks for more memory than its account has left.
struct NothingLeft : std::bad_alloc {
  explicit NothingLeft(const MemoryAccount* asked) : account(asked) {}
  const MemoryAccount* account;
};

/// Gives memory block by block, and takes it back when the last that lies in it is gone. Until seal() it keeps to the
/// limit of its account (null: it has none), and throws NothingLeft.
class Arena final : public boost::json::memory_resource {
 public:
  /// Writes its own address to `self`, because json::make_shared_resource() does not return it.
  Arena(std::shared_ptr<MemoryAccount> account, std::size_t first_block, Arena*& self);
  ~Arena() override;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// The document is parsed: from now on changes of it are not refused memory.
  void seal() { is_sealed_ = true; }

 private:
  struct alignas(std::max_align_t) Block {
    Block* before;
    std::size_t bytes;
  };
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void*, std::size_t, std::size_t) noexcept override {}
  bool do_is_equal(const boost::json::memory_resource& other) const noexcept override { return this == &other; }
  void add_block(std::size_t least);

  std::shared_ptr<MemoryAccount> account_;
  std::size_t next_block_;
  Block* last_ = nullptr;
  std::byte* free_ = nullptr;
  std::size_t left_ = 0;
  bool is_sealed_ = false;
};

/// Memory for what a parser holds besides the tree, drawn on the same account; throws NothingLeft.
class Scratch final : public boost::json::memory_resource {
 public:
  explicit Scratch(MemoryAccount* account) : account_(account) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* at, std::size_t bytes, std::size_t alignment) noexcept override;
  bool do_is_equal(const boost::json::memory_resource& other) const noexcept override { return this == &other; }

  MemoryAccount* account_;
};

}  // namespace kube
