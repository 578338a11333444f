// The right of this process to make tokens for the pods of an offloaded namespace.
// Tested by test/unit/controllers/namespaces/token_right_test.cpp.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "controllers/common/context.hpp"

namespace liqo::controllers {

/// Keeps the RoleBinding by which this process may make tokens in one offloaded namespace, and in no other: while the
/// settings let pods have any. It goes with the NamespaceOffloading, which owns it. One thread.
class TokenRight {
 public:
  /// After this time it is tried again to get a right that was refused.
  static constexpr std::chrono::hours refused_pause{1};

  /// `bindings` watches those that Liqo keeps, and outlives this.
  TokenRight(Context context, kube::InformerHandle& bindings) : context_(context), bindings_(bindings) {}

  /// Makes or removes the binding for `user`, as which this process runs. Returns when to look again; nothing = when
  /// something changes. A refusal is reported by an Event of the NamespaceOffloading, once.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> keep(kube::Object offloading, std::string user);
  /// Forgets a namespace that is not offloaded any more.
  void forget(const std::string& ns) { refused_.erase(ns); }

 private:
  asio::awaitable<kube::Result<void>> remove(std::string ns);

  Context context_;
  kube::InformerHandle& bindings_;
  std::map<std::string, kube::TimePoint> refused_;  ///< when it was refused last, by namespace
};

}  // namespace liqo::controllers
