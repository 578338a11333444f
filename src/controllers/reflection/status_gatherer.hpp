// Brings the status of copies home.
// Tested by test/unit/controllers/reflection/custom_kind_test.cpp.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include "controllers/reflection/reflected_namespace.hpp"

namespace liqo::controllers {

/// The digest of the part of an object that may come from its copy, and of its generation, to which that part may
/// refer.
std::string gathered_digest(const kube::Object& local);

/// Writes statuses of one namespace at home, each in its turn. It lives as long as its coroutine is awaited. One
/// thread.
class StatusGatherer {
 public:
  /// `context` outlives it.
  StatusGatherer(std::shared_ptr<ReflectedNamespace> ns, NamespaceContext& context)
      : ns_(std::move(ns)), context_(context) {}
  StatusGatherer(const StatusGatherer&) = delete;
  StatusGatherer& operator=(const StatusGatherer&) = delete;

  /// Brings the status of the copy with that name home, and returns the version of the object then. If that could not
  /// be done, or not yet, returns the Outcome that ends the look.
  asio::awaitable<std::expected<std::uint64_t, kube::Outcome>> bring_home(kube::Object local, std::string remote_name,
                                                                          kube::json::value status);

 private:
  /// How long a write at home that a copy causes has to wait; 0 = it may be made now. The caller keeps nothing of it in
  /// memory meanwhile.
  kube::Duration take_turn(const std::string& name, std::size_t bytes);
  /// Reports that a status cannot be written, and again after a while.
  void report_failed(const kube::Object& local, const kube::Failure& failure);
  /// Ends the look after a failure to bring a status home; the Outcome says when to try again.
  kube::Outcome end_failed(const std::string& remote_name, kube::Failure failure);

  std::shared_ptr<ReflectedNamespace> ns_;
  NamespaceContext& context_;
};

}  // namespace liqo::controllers
