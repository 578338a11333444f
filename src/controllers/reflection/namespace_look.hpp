// One look at a namespace as a whole: the first time it reads both sides, and later it compares the copies.
#pragma once

#include <memory>
#include <optional>

#include "controllers/reflection/reflected_namespace.hpp"

namespace liqo::controllers {

/// Reads or compares, and returns when that is due again. It lives as long as its look is awaited. One thread.
class NamespaceLook {
 public:
  /// `context` outlives it.
  NamespaceLook(std::shared_ptr<ReflectedNamespace> ns, NamespaceContext& context)
      : ns_(std::move(ns)), context_(context), state_(ns_->reading()) {}
  NamespaceLook(const NamespaceLook&) = delete;
  NamespaceLook& operator=(const NamespaceLook&) = delete;

  /// Looks, once for each NamespaceLook.
  asio::awaitable<kube::Outcome> look();

 private:
  /// Reads both sides. Nothing = the look goes on.
  asio::awaitable<std::optional<kube::Outcome>> read();
  /// Compares copies with what is known of them, and lists home if it is not watched. Nothing = the look goes on.
  asio::awaitable<std::optional<kube::Outcome>> compare();
  asio::awaitable<kube::Result<void>> read_copies();
  asio::awaitable<kube::Result<void>> read_home();
  /// Finds the objects at home that were added, changed or removed, of a kind that is not watched there.
  asio::awaitable<kube::Result<void>> list_home();
  asio::awaitable<kube::Result<void>> compare_copies(bool is_late);
  /// Waits until one more list may run at home.
  asio::awaitable<std::optional<kube::async::Slots::Slot>> take_home_slot() const;
  /// How long the namespace waits because objects that were read of others are still being worked on; nothing = it is
  /// read now. It is woken when there is room.
  std::optional<kube::Duration> waits_for_others();
  /// Whether its copies are compared later, because others have none yet.
  bool is_put_off() const;
  /// When the next look is due.
  kube::Outcome next_look();

  std::shared_ptr<ReflectedNamespace> ns_;
  NamespaceContext& context_;
  ReadingState& state_;  ///< of ns_
};

}  // namespace liqo::controllers
