// Makes the keys of pods.
// Tested by test/unit/controllers/offloading/pod_certificates_test.cpp.
#pragma once

#include <future>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/peering/keys.hpp"

namespace liqo::controllers {

/// A private key in PEM, and a request for it alone in DER.
struct PodKey {
  std::string pem, request;
};

/// Keys that take long (RSA) are made by a thread of their own, one at a time, which the destructor waits for.
class PodKeyMaker {
 public:
  explicit PodKeyMaker(core::Entropy entropy) : entropy_(std::move(entropy)) {}

  /// A key of that type for `whom`; nothing = it is being made, or that of another one is: ask again soon.
  std::optional<kube::Result<PodKey>> make(const std::string& whom, std::string_view type);

 private:
  core::Entropy entropy_;
  std::string whom_;  ///< for whom one is being made
  std::future<kube::Result<PodKey>> making_;
  std::map<std::string, kube::Result<PodKey>> ready_;  ///< made while others asked, by for whom
};

}  // namespace liqo::controllers
