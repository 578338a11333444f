// Counts what the stored ShadowPods and Pods of this cluster take from the Quotas of their users.
// Tested by test/unit/quota/quota_ledger_test.cpp and test/sim/ledger_world.cpp.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/admission/shadow_pod.hpp"
#include "core/quota/account.hpp"
#include "core/quota/demand.hpp"
#include "core/quota/pod_requests.hpp"
#include "kube/async/event.hpp"
#include "quota/ledger_context.hpp"
#include "quota/pod_surroundings.hpp"

namespace liqo::quota {

using core::admission::StoredAmount;

/// Counts from the caches, change by change, including what LimitRanges and RuntimeClasses add to a pod. It reads live
/// what the caches cannot show. A ShadowPod that vanished counts until it is known that it has left no Pod. After each
/// list of ShadowPods the cache of Pods is brought up to date, because some ShadowPods may have come and gone unseen.
/// One thread.
class StoredPods {
 public:
  /// `changed`: called, often, when the account may have changed, already during construction; must not suspend.
  StoredPods(const LedgerContext& context, kube::Api& replica_api, core::Counting counting,
             std::function<void()> changed);

  /// Does the live reads. Ends only by cancellation.
  asio::awaitable<void> run();
  /// Whether everything that is stored has been counted once.
  bool has_synced() const;

  /// Sets the handler that is called with each ShadowPod that is seen stored, and again when it changes; must not
  /// suspend. One reader.
  void on_stored(std::function<void(const kube::ObjectKey&, const core::HeldShadow&)> handler) {
    seen_ = std::move(handler);
  }

  /// What stored ShadowPods and Pods hold, by the user that made them.
  const core::QuotaAccount& account() const { return account_; }
  /// The stored amount of the consumer with that ID.
  StoredAmount amount_of(const std::string& origin) const;
  /// The requests of a ShadowPod's pod, as they are counted: with the additions of LimitRanges and RuntimeClasses if
  /// counting is exact. Errors: those of core::read_pod_needs.
  kube::Result<core::PodNeeds> needs_of(const kube::Object& shadow_pod) const;

  /// The resource version up to which ShadowPods are counted.
  std::uint64_t version() const { return shadows_->version(); }
  /// Waits until everything up to that version is counted, and no stored pod can be missing. `floor` is called again at
  /// each step. False: not within three seconds. Cancellable.
  asio::awaitable<bool> catch_up(std::function<std::uint64_t()> floor);

 private:
  /// Whether no stored pod can be missing: Pods were read after the last list of ShadowPods. If false, they will be
  /// read.
  bool is_complete();
  /// Waits until more is counted, or until the deadline.
  asio::awaitable<void> progress(kube::Deadline deadline);
  void recount(const kube::ObjectKey& key);
  /// Whether a Pod is in a twin of its consumer: any user may give a Pod of their own the labels of a consumer's.
  bool is_in_twin(const kube::Object& pod) const;
  void weigh(const kube::ObjectKey& key, const kube::Object* shadow);
  /// Counts these pods again, a few in each turn of the loop, because their LimitRanges or RuntimeClasses have changed.
  void recount_later(std::vector<kube::ObjectKey> keys);
  asio::awaitable<void> recount_waiting();
  /// Reads live whether there are Pods under the unconfirmed keys.
  asio::awaitable<void> confirm();
  void recount_namespace(const std::string& ns);
  void recount_runtime_class(const std::string& name);
  /// Reads live whether there are Pods under these keys of one namespace. False: they could not be read, or all Pods
  /// have to be read first.
  asio::awaitable<bool> confirm_each(std::vector<kube::ObjectKey> keys);
  asio::awaitable<bool> confirm_together(std::vector<kube::ObjectKey> keys);
  /// Reads all Pods. False: they could not be read.
  asio::awaitable<bool> refresh_pods();
  void confirmed(const kube::ObjectKey& key, std::optional<kube::Object> pod);

  kube::async::Clock& clock_;
  kube::Random& random_;
  kube::Api& replica_api_;
  core::Counting counting_;
  std::function<void()> changed_;
  std::function<void(const kube::ObjectKey&, const core::HeldShadow&)> seen_;
  kube::InformerHandle shadows_, pods_, namespaces_;
  PodSurroundings surroundings_;
  core::QuotaAccount account_;
  struct Weight {
    std::string origin;
    std::size_t bytes = 0;
  };
  std::unordered_map<kube::ObjectKey, Weight> weights_;
  std::unordered_map<std::string, StoredAmount> amounts_;  ///< by the consumer's ID
  std::set<kube::ObjectKey> unconfirmed_;                  ///< keys whose Pod has to be read live
  std::uint64_t refreshed_at_ = 0;                         ///< number of lists of ShadowPods when Pods were last read
  std::set<kube::ObjectKey> waiting_;                      ///< to be counted again
  bool was_counted_ = false;                               ///< once nothing waited while all caches were complete
  kube::async::Event progress_, more_to_read_, more_waiting_;
};

}  // namespace liqo::quota
