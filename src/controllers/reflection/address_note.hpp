// Shows at home which addresses a provider gave to a copy.
// Tested by test/unit/controllers/reflection/address_note_test.cpp.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controllers/reflection/reflected_namespace.hpp"

namespace liqo::controllers {

/// Writes the entry of this provider in the annotation `remote-addresses` of objects of one namespace at home, and
/// leaves those of other providers as they are. Each write names the version that was read, so that two providers, or
/// two processes, never undo each other's. Addresses that others take away again are written with growing pauses, up to
/// an hour. It lives as long as its coroutine is awaited. One thread.
class AddressNote {
 public:
  /// `context` outlives it.
  AddressNote(std::shared_ptr<ReflectedNamespace> ns, NamespaceContext& context)
      : ns_(std::move(ns)), context_(context) {}
  AddressNote(const AddressNote&) = delete;
  AddressNote& operator=(const AddressNote&) = delete;

  /// Makes the annotation name these addresses, none = it has no entry of this provider. Returns the version of the
  /// object then. If that could not be done, or not yet, returns the Outcome that ends the look. `remote_name`: the
  /// name of the copy.
  asio::awaitable<std::expected<std::uint64_t, kube::Outcome>> show(kube::Object local, std::string remote_name,
                                                                    std::vector<std::string> addresses);
  /// How long to wait before the entry is written again that somebody has changed at home; nothing = it is as it should
  /// be.
  std::optional<kube::Duration> rest_if_changed(const kube::Object& local) const;

 private:
  /// How long to wait for the write; 0 = it may be made now.
  kube::Duration take_turn(ObjectNotes::Addressed& note, std::size_t bytes) const;
  /// Ends the look, and has the object looked at again.
  std::unexpected<kube::Outcome> end(const std::string& remote_name, kube::Outcome outcome);

  std::shared_ptr<ReflectedNamespace> ns_;
  NamespaceContext& context_;
};

}  // namespace liqo::controllers
