// The provider's half of a slice: how much is granted, and the Quota that bounds it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "controllers/peering/tenant_namespace.hpp"
#include "controllers/slices/node_platforms.hpp"
#include "controllers/slices/shared_capacity.hpp"
#include "kube/runtime/controller.hpp"
#include "liqo/core/slices/grant.hpp"
#include "liqo/core/slices/quota.hpp"

namespace liqo::controllers {

/// Decides on the resources of every slice that a consumer has sent, keeps its Quota, and answers in its status. The
/// Quota of a slice of a custom class follows what the controller of that class accepts.
///
/// Guarantees: the Quota is written before the status, so that nobody uses what is not bounded yet. Decisions follow
/// what is recorded on the Quota, and never the status, which others may tamper with. The Quotas of a cordoned tenant,
/// and that of a cordoned slice, are cordoned, whatever becomes of a request. One thread.
class SliceGrantController final : public Runnable {
 public:
  SliceGrantController(TenantNamespaces& namespaces, Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override;
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  struct Memory {
    std::string uid;
    std::optional<core::PendingShare> pending;
    core::Resources granting;  ///< by the last decision; its Quota may not be written yet
    bool drain_told = false;   ///< our denial of a custom class was written, and its controller may overwrite it
  };
  /// A slice, what it has, and what is decided about it.
  struct Look {
    kube::Object slice;
    std::string peer;                        ///< whose tenant namespace it is in
    std::optional<kube::Object> quota = {};  ///< its own
    std::optional<core::SliceRecord> before = {};
    core::GrantPlan plan = {};
    core::QuotaWish wish = {};
    bool is_judged = false;  ///< `plan` is about the request, and not only that all stays
    /// Why the request is not looked at, for an Event.
    struct Warning {
      std::string_view reason;
      std::string message;
    };
    std::optional<Warning> warning = {};
  };
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  /// Decides from the caches and from what is remembered. Tells and remembers nothing.
  void decide(Look& look) const;
  /// Remembers what was decided for the next look, and for other slices that are decided meanwhile.
  void remember(const Look& look);
  /// Says in the status what was decided.
  asio::awaitable<kube::Outcome> answer(const Look& look);
  /// Says so to people.
  void tell(const Look& look);
  asio::awaitable<kube::Result<void>> write_quota(kube::Object slice, std::optional<kube::Object> quota,
                                                  core::QuotaWish wish);
  asio::awaitable<kube::Result<void>> write_status(kube::Object slice, kube::json::object patch);
  /// Removes the Quota of an earlier slice of that name. Answers false where it belongs to something else.
  asio::awaitable<kube::Result<bool>> remove_stale(kube::Object slice, kube::Object quota);
  core::GrantPlan plan_grant(const kube::Object& slice, const kube::Object& tenant, const core::SliceRecord* record,
                             std::string_view peer) const;
  std::optional<core::SliceRecord> foreign_record(const kube::Object& slice);
  /// What the policy of a consumer bounds, and what its other slices have.
  core::GrantLimits limits_of(const kube::ObjectKey& slice) const;
  kube::json::array storage_classes();
  void read_policy();
  void see_slice(const kube::Change& change);
  void enqueue(const kube::ObjectKey& slice) { controller_.enqueue({slice.ns, slice}); }
  /// How many slices of class "share" the consumer of that tenant namespace has.
  int share_slices_of(std::string_view ns) const;

  Context context_;
  TenantNamespaces& namespaces_;
  kube::InformerHandle slices_, tenants_, quotas_, config_, storage_classes_;
  core::SlicePolicy policy_;
  SharedCapacity capacity_;
  NodePlatforms platforms_;
  std::set<kube::ObjectKey> incoming_;      ///< slices of consumers
  std::set<kube::ObjectKey> share_slices_;  ///< those of them that are of class "share"
  std::unordered_map<kube::ObjectKey, Memory> memory_;
  kube::Controller controller_;
  kube::Log log_{"slice-grant"};
};

}  // namespace liqo::controllers
