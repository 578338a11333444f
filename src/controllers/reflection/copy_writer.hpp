// Writes one copy at the provider.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "controllers/reflection/reflected_namespace.hpp"

namespace liqo::controllers {

/// Writes copies in the twin of a namespace, and notes the results. It lives as long as its coroutine is awaited. One
/// thread.
class CopyWriter {
 public:
  /// `context` outlives it.
  CopyWriter(std::shared_ptr<ReflectedNamespace> ns, NamespaceContext& context)
      : ns_(std::move(ns)), context_(context) {}
  CopyWriter(const CopyWriter&) = delete;
  CopyWriter& operator=(const CopyWriter&) = delete;

  /// Applies the wanted copy of `local`, and brings its status home.
  asio::awaitable<kube::Outcome> apply(kube::Object local, core::reflection::reflection_action::Apply wanted);
  /// Names the twin as the owner of a copy, and no former twin, if it gets an owner at all.
  asio::awaitable<kube::Result<void>> set_owner(kube::Object remote);
  /// Removes what others have added to a copy.
  asio::awaitable<kube::Outcome> trim(kube::Object local, kube::Object remote, std::string patch);
  /// Removes the fields that we have set on an object which another owner has made since this namespace was read, and
  /// leaves it alone then. `name`: in the twin.
  asio::awaitable<kube::Outcome> give_back(std::string name);

 private:
  /// The owner of a copy that is about to be applied; nothing: it gets none. `is_there`: the copy was read.
  asio::awaitable<kube::Result<std::optional<kube::OwnerReference>>> owner_of(bool is_there);
  /// Ends an apply that was carried out: gives an owner to what was created without one, and has another look at a copy
  /// to which others have added something.
  asio::awaitable<kube::Outcome> end_stored(kube::Object applied, core::reflection::reflection_action::Apply wanted);
  /// Handles an apply that was refused, other than by a conflict.
  asio::awaitable<kube::Outcome> end_refused(kube::Object local, core::reflection::reflection_action::Apply wanted,
                                             kube::Failure failure);
  /// Takes away a copy that is reached from outside and lacks what was refused, which may be what keeps strangers out,
  /// or is to be reached no more. Returns whether it is gone. `local` and `desired` outlive this.
  asio::awaitable<bool> shut(const kube::Object& local, const kube::Object& desired, std::string words);
  /// Reports once what the copy lacks that was stored for `local`.
  void report_stored(const kube::Object& local, const kube::Object& copy);
  /// Reports once that a copy lacks the annotations of controllers at home.
  void report_notes(const kube::Object& local);

  std::shared_ptr<ReflectedNamespace> ns_;
  NamespaceContext& context_;
};

}  // namespace liqo::controllers
