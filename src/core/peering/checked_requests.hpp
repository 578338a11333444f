// Verdicts on certificate signing requests, which are looked at again whenever their object changes.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "core/peering/csr.hpp"

namespace liqo::core {

/// Remembers the results of check_signing_request(), which depend on nothing but its arguments. To read a request and
/// to verify its signature costs as much as all else that is done when the status of a slice changes. If there are too
/// many verdicts, the oldest are forgotten. One thread.
class CheckedRequests {
 public:
  /// `most`: how many verdicts are kept, of less than 1 KiB each.
  explicit CheckedRequests(std::size_t most = 4096) : most_(most) {}
  /// The result of check_signing_request() for these arguments, which is remembered or found now.
  kube::Result<void> check(std::string_view pem, const CertificateName& name, const PublicKey* key);
  /// How many requests were read so far.
  std::uint64_t reads() const { return reads_; }

 private:
  std::size_t most_;
  std::map<std::string, kube::Result<void>> verdicts_;  ///< by digest of what was asked
  std::deque<std::string> order_;                       ///< their digests, the oldest first
  std::uint64_t reads_ = 0;
};

}  // namespace liqo::core
