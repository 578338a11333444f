// From where API servers have been seen to ask: whoever reaches the port of the webhooks can say that it is one.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kube/base/time.hpp"
#include "liqo/core/admission/review.hpp"

namespace liqo::core::admission {

/// Addresses that have shown that an API server asks from them, each for an hour since it last did so: addresses of
/// pods find new owners. The number is bounded; who has shown it least lately is forgotten.
class ProvenCallers {
 public:
  static constexpr std::size_t most = 256;
  static constexpr kube::Duration lifetime = std::chrono::hours(1);

  void prove(std::string_view address, kube::TimePoint now);
  bool has(std::string_view address, kube::TimePoint now) const;
  /// Whether all of them are here; false for none.
  bool has_all(std::span<const std::string> addresses, kube::TimePoint now) const;
  std::size_t size() const { return proven_.size(); }

 private:
  std::map<std::string, kube::TimePoint, std::less<>> proven_;  ///< when last
};

/// Whoever creates this as a dry run hears from where its API server has asked about it: a ForeignCluster of no
/// cluster, which goes through a webhook that may change it.
kube::Object forge_probe();
/// The answer to the review of a probe, which fills in its caller; nothing where the request is no probe.
std::optional<Answer> answer_probe(const Request& request);
/// What is filled in; "" where nobody has.
std::string_view probed_address(const kube::Object& answered);

}  // namespace liqo::core::admission
