// Brings the status of copies home.
// Tested by test/unit/controllers/reflection/custom_kind_test.cpp.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include "controllers/reflection/reflected_namespace.hpp"

namespace liqo::reflector {

/// The digest of what of an object may come from its copy, and of its generation, of which that may speak.
std::string gathered_digest(const kube::Object& local);

/// Writes statuses of one namespace at home, each in its turn. It lives as long as what it does is awaited. One thread.
class StatusGatherer {
 public:
  /// `context` outlives it.
  StatusGatherer(std::shared_ptr<ReflectedNamespace> ns, NamespaceContext& context)
      : ns_(std::move(ns)), context_(context) {}
  StatusGatherer(const StatusGatherer&) = delete;
  StatusGatherer& operator=(const StatusGatherer&) = delete;

  /// Brings the status of the copy of that name home, and returns the version of the object then; or how the look ends,
  /// because that could not be done, or not yet.
  asio::awaitable<std::expected<std::uint64_t, kube::Outcome>> bring_home(kube::Object local, std::string remote_name,
                                                                          kube::json::value status);

 private:
  /// How long a write at home, which a copy is the cause of, has to wait; 0 = it may be made now. Whoever waits holds
  /// nothing of it.
  kube::Duration take_turn(const std::string& name, std::size_t bytes);
  /// Tells that a status cannot be written, and again after a while.
  void tell_failed(const kube::Object& local, const kube::Failure& failure);
  /// When that is tried again which could not be brought home.
  kube::Outcome end_failed(const std::string& remote_name, kube::Failure failure);

  std::shared_ptr<ReflectedNamespace> ns_;
  NamespaceContext& context_;
};

}  // namespace liqo::reflector
