// Writes one copy at the provider.
#pragma once

#include <memory>
#include <string>

#include "controllers/reflection/reflected_namespace.hpp"

namespace liqo::reflector {

/// Writes copies in the twin of a namespace, and notes what the answers say of them. It lives as long as what it does
/// is awaited. One thread.
class CopyWriter {
 public:
  /// `context` outlives it.
  CopyWriter(std::shared_ptr<ReflectedNamespace> ns, NamespaceContext& context)
      : ns_(std::move(ns)), context_(context) {}
  CopyWriter(const CopyWriter&) = delete;
  CopyWriter& operator=(const CopyWriter&) = delete;

  /// Applies the copy that is wanted of `local`, and brings home what comes of it.
  asio::awaitable<kube::Outcome> apply(kube::Object local, reflection::reflection_action::Apply wanted);
  /// Takes away what others have added to a copy.
  asio::awaitable<kube::Outcome> trim(kube::Object local, kube::Object remote, std::string patch);
  /// Takes back the fields set on an object that another owner has made since this namespace was read, and leaves it
  /// alone. `name`: in the twin.
  asio::awaitable<kube::Outcome> give_back(std::string name);

 private:
  /// Ends an apply that was refused, other than by a conflict.
  asio::awaitable<kube::Outcome> end_refused(kube::Object local, reflection::reflection_action::Apply wanted,
                                             kube::Failure failure);
  /// Tells once that a copy goes without the notes of controllers of home.
  void tell_notes(const kube::Object& local);

  std::shared_ptr<ReflectedNamespace> ns_;
  NamespaceContext& context_;
};

}  // namespace liqo::reflector
