// The amounts that ShadowPods and their Pods hold of their Quotas, kept up to date change by change.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/common/resources.hpp"
#include "kube/k8s/resource.hpp"

namespace liqo::core {

/// The part of a stored ShadowPod that its Quota counts by.
struct HeldShadow {
  std::string uid;
  std::string user;  ///< its creator label
  Resources demand;
  bool finished = false;        ///< its phase says that its pod has ended
  std::uint64_t version = 0;    ///< its resource version
  std::int64_t generation = 0;  ///< of its spec
};

/// A stored Pod that a ShadowPod was made into.
struct HeldPod {
  std::string uid;
  std::string shadow_uid;  ///< of the ShadowPod that owns it
  std::string user;        ///< its creator label
  Resources demand;
  bool finished = false;
  /// The generation of the ShadowPod whose amounts it has; unset = it is never resized.
  std::optional<std::int64_t> generation = {};
};

/// Sums, per user, what stored ShadowPods and Pods hold. One thread.
///
/// Guarantees: of a ShadowPod and its Pod the larger counts while both exist, and the Pod alone until it is gone or has
/// finished. Names are unique per namespace, so that one key has at most one of each; a Pod that outlives its ShadowPod
/// beside a successor of the same name counts on its own.
///
/// Failures: the cache of Pods may be behind. A ShadowPod that is gone and whose Pod was never seen therefore counts
/// until `confirm_gone`. A ShadowPod that shrinks counts with the most that it has asked for until its Pod is seen to
/// have the present amounts. A Pod that outlives its ShadowPod counts with the last amounts of that ShadowPod if it was
/// not seen to have them.
class QuotaAccount {
 public:
  /// Takes what the caches have under a key now. Returns true if the key must be confirmed: read its Pod live, then
  /// call `confirm_gone` if there is none.
  bool set(const kube::ObjectKey& key, std::optional<HeldShadow> shadow, std::optional<HeldPod> pod);
  /// Takes that there is no Pod under this key: ShadowPods that were deleted under it no longer count.
  void confirm_gone(const kube::ObjectKey& key);

  /// What the user's pods hold, by resource.
  const Resources& used(const std::string& user) const;
  /// The users whose pods hold something.
  std::vector<std::string> users() const;
  /// How many pods hold something, for people to see.
  std::size_t pods(const std::string& user) const;
  /// The resource version at which a ShadowPod of that UID was seen last, if it is stored or was lately; 0 = unseen.
  std::uint64_t seen_version(const std::string& shadow_uid) const;

 private:
  struct Holding {
    std::optional<HeldShadow> shadow;
    std::optional<HeldPod> pod;
    Resources most;                    ///< what the ShadowPod counts for
    bool is_resized = false;           ///< its Pod is not known to have the present amounts
    Resources max_of_pod;              ///< what the Pod may hold by its deleted ShadowPod
    std::vector<HeldShadow> vanished;  ///< count until their Pods are known to be gone
  };
  struct Sum {
    Resources used;
    std::size_t pods = 0;
  };
  /// Adds what the holding takes, or takes it away again.
  void count(const Holding& holding, bool add_it);
  void count(const std::string& user, const Resources& demand, bool add_it);

  std::unordered_map<kube::ObjectKey, Holding> holdings_;
  std::unordered_map<std::string, Sum> sums_;
  std::unordered_map<std::string, std::uint64_t> seen_;
  std::deque<std::string> gone_;  ///< UIDs that are no longer stored, oldest first
};

}  // namespace liqo::core
