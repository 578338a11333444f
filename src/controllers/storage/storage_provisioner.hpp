// The provisioner of StorageClass liqo: volumes where their pods run, in this cluster or at a provider.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "controllers/common/context.hpp"
#include "controllers/common/runnable.hpp"
#include "controllers/links/provider_link.hpp"
#include "core/slices/policy.hpp"
#include "core/storage/volume.hpp"
#include "core/storage/volume_plan.hpp"
#include "kube/client/api.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// A provider as one virtual node reaches it.
struct ProviderReach {
  std::shared_ptr<ProviderLink> link;
  core::ForgingContext forging;
};
/// Nothing where there is no session.
using FindReach = std::function<std::optional<ProviderReach>(const kube::ObjectKey& virtual_node)>;

/// Makes a claim behind each claim of the class once the scheduler has chosen a node for it, at the provider where that
/// is a virtual node, and then the volume between the two. It keeps the volume's size as it is there, has it grow with
/// the claim here, and removes the data with the volume where the policy says so. The content of a provider's claims is
/// read while something is to come of it, and every five minutes besides. One thread.
class StorageProvisioner final : public Runnable {
 public:
  StorageProvisioner(FindReach reach, Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override;
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  /// Where the claim behind another one is, or is to be.
  struct Site {
    std::string cluster;  ///< the provider; "" = this cluster
    std::string where;    ///< for sentences
    kube::ObjectKey key;
    std::optional<kube::Object> virtual_node;  ///< of a provider
    std::optional<ProviderReach> reach;
    std::unique_ptr<kube::Api> provider;  ///< over `reach`
  };
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  asio::awaitable<kube::Outcome> reconcile_claim(kube::ObjectKey key);
  asio::awaitable<kube::Outcome> reconcile_volume(kube::ObjectKey key);
  /// The claim behind another one, and what is to be done about both.
  struct Behind {
    std::optional<kube::Object> live;
    bool is_pending = false;
    kube::Duration waited{};  ///< where it is pending
    core::storage::VolumePlan plan;
  };
  /// `volume`: null where the claim has none yet; `is_lost`: it had one.
  asio::awaitable<kube::Result<Behind>> look_behind(kube::Object claim, const kube::Object* volume, Site& site,
                                                    bool is_lost);
  /// What is known of one claim.
  struct Look {
    kube::Object claim;
    std::optional<kube::Object> volume;
    Behind behind;
  };
  asio::awaitable<kube::Outcome> carry_out(Look& look, Site& site);
  asio::awaitable<kube::Outcome> act(Look& look, const core::storage::volume_action::CreateBacking& plan, Site& site);
  asio::awaitable<kube::Outcome> act(Look& look, const core::storage::volume_action::CreateVolume& plan, Site& site);
  asio::awaitable<kube::Outcome> act(Look& look, const core::storage::volume_action::Discard& plan, Site& site);
  asio::awaitable<kube::Outcome> act(Look& look, const core::storage::volume_action::AwaitBacking& plan, Site& site);
  asio::awaitable<kube::Outcome> act(Look& look, core::storage::volume_action::Keep& plan, Site& site);
  asio::awaitable<kube::Outcome> create_backing(kube::Object claim, Site& site);
  /// Makes the volume of a claim that is to have the data of another volume, whose claim is gone.
  asio::awaitable<kube::Outcome> take_volume(kube::Object claim);
  /// The claim behind it, which is taken over first where it holds data that nothing at home stands for any more.
  asio::awaitable<kube::Result<kube::Object>> take_stray(kube::Object claim, kube::Object backing, const Site& site);
  /// Records on the claim, the volume and the claim behind where the data of a volume of the Go version is.
  asio::awaitable<kube::Outcome> adopt(kube::Object claim, kube::Object volume, std::string cluster);
  /// Writes on the claim where the one behind it is, in case the volume is lost; answers what is stored.
  asio::awaitable<kube::Result<kube::Object>> note_backing(kube::Object claim, const Site& site);
  /// Puts our finalizer on the claim, and where it is begun; false where the claim has gone meanwhile, or goes.
  asio::awaitable<kube::Result<bool>> hold(kube::Object claim, const Site& site);
  /// `policy`: what becomes of the data when the claim goes; "" = as its class says.
  asio::awaitable<kube::Outcome> create_volume(kube::Object claim, kube::Object backing, Site& site,
                                               std::string policy = {});
  /// Each writes one patch of the plan.
  asio::awaitable<kube::Outcome> correct(const Look& look, core::storage::volume_action::PatchBacking& step,
                                         Site& site);
  asio::awaitable<kube::Outcome> correct(const Look& look, core::storage::volume_action::PatchVolume& step, Site& site);
  asio::awaitable<kube::Outcome> correct(const Look& look, core::storage::volume_action::PatchClaim& step, Site& site);
  /// Whether the claim has its volume, of which the cache does not know yet.
  asio::awaitable<kube::Result<bool>> see_live_volume(const kube::Object& claim);
  /// Removes what was made for a claim that goes before it has a volume.
  asio::awaitable<kube::Outcome> abandon(kube::Object claim);
  asio::awaitable<kube::Outcome> reschedule(kube::Object claim, std::string message);
  asio::awaitable<kube::Result<void>> ensure_storage_namespace();
  /// Whether a provider's claim waits for its first pod. A consumer may not read the provider's classes: the Events of
  /// the claim tell.
  asio::awaitable<bool> waits_for_consumer(const kube::Object& backing, Site& site);
  asio::awaitable<void> warn(const kube::Object& claim, const std::optional<core::storage::VolumeWarning>& warning);
  /// Tells the claim, and the pods that use it.
  asio::awaitable<void> tell(kube::Object claim, std::string_view reason, std::string message);
  /// The pods that use the claim.
  asio::awaitable<kube::Result<std::vector<kube::Object>>> pods_of(const kube::Object& claim);

  /// The site of a claim whose volume is not there yet. Failure: why there is none, a sentence.
  asio::awaitable<kube::Result<Site>> site_of(kube::Object claim) const;
  /// Where the claim behind this one would be in that cluster, "" = this one.
  kube::Result<Site> site_in(const kube::Object& claim, std::string_view cluster) const;
  /// The ID of the site's cluster, for logs.
  std::string_view cluster_of(const Site& site) const {
    return site.cluster.empty() ? context_.settings.cluster_id : site.cluster;
  }
  std::optional<kube::Object> selected_virtual_node(const kube::Object& claim) const;
  kube::Result<Site> site_of(const core::storage::Backing& backing) const;
  kube::Result<void> connect(Site& site) const;
  kube::Api& api_of(const Site& site) const { return site.provider ? *site.provider : context_.home.api(); }
  std::optional<kube::Object> virtual_node(const std::function<bool(const kube::Object&)>& is_it) const;
  std::string twin_of(const kube::Object& virtual_node, std::string_view ns) const;
  /// Whether the failure says that the claim of the site, behind one of that namespace, is not there.
  bool is_gone(const kube::Failure& failure, const Site& site, std::string_view ns) const;
  bool is_of_class(const kube::Object& claim) const;
  /// How long this has been waited for.
  kube::Duration waited(std::string_view uid);
  /// Notes that a request got no answer that was to make what is behind this claim: it may be carried out later.
  void doubt(std::string_view uid, kube::TimePoint sent_at);
  /// Notes the same of all claims for which an earlier process may have sent one.
  void doubt_held();
  /// How long something may still be made behind the claim, without any further request; zero = no more.
  kube::Duration left_of_doubt(std::string_view uid) const;
  void see_claim(const kube::ObjectKey& key);
  void see_volume(const kube::ObjectKey& key);
  void enqueue(const kube::ObjectKey& key) { controller_.enqueue({key.ns, key}); }
  void enqueue_waiting();
  void enqueue_all();

  Context context_;
  FindReach reach_;
  kube::InformerHandle claims_, volumes_, classes_, virtual_nodes_, namespace_maps_, config_;
  /// What the ConfigMap of settings says; nothing before it was looked at.
  std::optional<core::ReadPolicy> policy_;
  std::map<std::string, kube::TimePoint, std::less<>> waiting_since_;   ///< by UID of the claim
  std::map<std::string, kube::TimePoint, std::less<>> in_doubt_until_;  ///< likewise
  kube::Controller controller_;
  kube::Log log_{"storage"};
};

}  // namespace liqo::controllers
