// The lines about pods of one virtual node in the metrics of a provider's kubelets. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "core/usage/pod_usage.hpp"

namespace liqo::core {

/// Reads text for Prometheus line by line and keeps samples of pods that are bound to the node here. It writes them
/// again itself, so that nothing that a provider makes up breaks a scrape. Other samples, comments and help are left
/// out; so are samples of a time far ahead. A label `pod_uid` says the UID that the pod has at home.
class OwnLines {
 public:
  OwnLines(UidOf uid_of, kube::WallTime now) : uid_of_(std::move(uid_of)), now_(now) {}

  /// What a line becomes, with its line end and the type of its family if that was not written yet; "" = nothing.
  std::string take(std::string_view line);
  /// How many samples were kept.
  std::size_t samples() const { return samples_; }

 private:
  UidOf uid_of_;
  kube::WallTime now_;
  std::size_t samples_ = 0;
  std::string type_of_, type_;                  ///< what the last line of a type has said
  std::set<std::string, std::less<>> written_;  ///< families of which the type was written
};

}  // namespace liqo::core
