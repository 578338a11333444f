// The addresses from which API servers call the webhooks. They have to be proven, because whoever reaches the port can
// claim to be an API server.
// Tested by test/unit/core/admission/proven_callers_test.cpp.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/admission/review.hpp"
#include "kube/base/time.hpp"

namespace liqo::core::admission {

/// Addresses that are proven to be those of API servers. Each proof lasts an hour, because addresses of pods get new
/// owners. The number is bounded: the address with the oldest proof is forgotten.
class ProvenCallers {
 public:
  static constexpr std::size_t max_proven = 256;
  static constexpr kube::Duration lifetime = std::chrono::hours(1);

  /// An API server calls from the address: this proof replaces an earlier one.
  void prove(std::string_view address, kube::TimePoint now);
  /// Whether the address is proven and the proof has not expired.
  bool has(std::string_view address, kube::TimePoint now) const;
  /// Whether all of the addresses are proven; false for an empty list.
  bool has_all(std::span<const std::string> addresses, kube::TimePoint now) const;
  std::size_t size() const { return proven_.size(); }

 private:
  std::map<std::string, kube::TimePoint, std::less<>> proven_;  ///< when each was last proven
};

/// The probe: a ForeignCluster of no cluster, to be created as a dry run. It passes a mutating webhook, which writes
/// into it the address from which the API server calls.
kube::Object forge_probe();
/// The answer to the review of a probe, which writes the caller's address into it; nothing if the request is no probe.
std::optional<Answer> answer_probe(const Request& request);
/// The address that was written into an answered probe; "" if there is none.
std::string_view probed_address(const kube::Object& answered);

}  // namespace liqo::core::admission
