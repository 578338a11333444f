// The pods of one virtual node: local Pod → ShadowPod → status back.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "controllers/providers/provider_budget.hpp"
#include "controllers/providers/twin_watches.hpp"
#include "kube/runtime/controller.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/controllers/context.hpp"
#include "liqo/core/namespaces/namespace_mapping.hpp"
#include "liqo/core/offloading/pod_plan.hpp"
#include "liqo/core/offloading/pod_status.hpp"
#include "liqo/core/offloading/refused_orders.hpp"
#include "liqo/core/offloading/remote_warning.hpp"
#include "liqo/core/offloading/service_account_token.hpp"
#include "liqo/reflector/counters.hpp"

namespace liqo::controllers {

/// Guarantees: a pod is identified by its UID; a finished pod never runs again; nothing is written to the provider for
/// a namespace, and nothing is deleted, before the caches of pods at home and of the twin namespace are complete.
/// What the provider refuses stands in its words in one condition and one Event of the local pod, and so does what its
/// Events warn of while the remote pod is not ready. One thread.
class PodController {
 public:
  /// What it reads the provider from, which others may read, too, and what it asks and writes by: both outlive it.
  struct Provider {
    TwinWatches& twins;
    kube::InformerSet& caches;
    kube::Api& api;
  };
  PodController(core::ForgingContext forging, Provider provider, ProviderBudget& budget, Context context);
  ~PodController();

  /// Takes the namespaces that have a twin as of now, and starts and stops watching accordingly.
  void set_mapping(core::NamespaceMapping mapping);
  /// Takes what is declared about the provider's addresses as of now. Until the first call the addresses that pods show
  /// at home stay as they are.
  void set_addresses(core::PeerAddresses addresses);
  /// What there is to tell of a provider that has taken our rights away; "" = it has not.
  void set_withdrawal(std::string withdrawal);
  /// Reconciles until cancelled: while this process leads.
  asio::awaitable<void> run();
  /// Asks the provider why pods are not ready, until cancelled: while this process leads.
  asio::awaitable<void> run_questions() { return questions_.run(); }
  bool is_busy() const { return controller_.is_busy(); }

  /// Whether the smallest of the pods that wait has been refused for lack of room, or it has been so a moment ago.
  bool has_no_room() const { return !without_room_.empty() || context_.clock.now() < refused_until_; }
  /// How many pods wait because their last order was refused for lack of room.
  std::size_t pods_without_room() const { return without_room_.size(); }
  /// Called when that begins or ends.
  void on_room_change(std::function<void()> handler) { room_changed_ = std::move(handler); }
  /// Whether the Node has the taint that keeps new pods away. Pods that ran and are refused then end, so that their
  /// owners make others elsewhere; before, those would come here again. `is_told`: the provider itself says so.
  void set_closed(bool closed, bool is_told);

  /// The pods of this node at home, whether their namespace is mapped or not.
  const kube::Informer& local_pods() const { return *local_pods_; }
  const core::NamespaceMapping& mapping() const { return mapping_; }
  const core::ForgingContext& forging() const { return forging_; }

 private:
  /// One twin namespace of this node: there is one of each for each virtual node of a provider.
  struct Twin {
    std::string remote;
    bool withdrawn = false;  ///< nothing is sent to it any more; it is watched until its pods are gone
    std::shared_ptr<TwinWatch> watch;
    kube::InformerHandle tokens;
    reflector::ReflectionCounters counters, token_counters;
    bool has_synced() const { return watch->has_synced(); }
    /// Of a twin that rests nothing is there.
    std::optional<kube::Object> find(kube::InformerHandle TwinWatch::* which, const kube::ObjectKey& key) const {
      const kube::InformerHandle& cache = (*watch).*which;
      return cache ? cache->find(key) : std::nullopt;
    }
    bool contains(kube::InformerHandle TwinWatch::* which, const kube::ObjectKey& key) const {
      const kube::InformerHandle& cache = (*watch).*which;
      return cache && cache->store().contains(key);
    }
    /// What tokens there are is waited for only by those who use them.
    bool knows_tokens() const { return !tokens || tokens->has_synced(); }
  };
  /// What is remembered of one local pod.
  struct Memory {
    std::string uid;
    core::PodMemory plan;
    kube::TimePoint shadow_created_at{};
    std::optional<kube::WallTime> bound;            ///< to its node, until it is shown as running
    kube::TimePoint in_doubt_until{};               ///< for `PodMemory::order_in_doubt`
    std::optional<kube::TimePoint> remote_seen_at;  ///< when its remote pod was first seen
    std::string ending;                             ///< UID of its remote pod that is being deleted
    kube::TimePoint ending_since{};                 ///< for `PodMemory::remote_ending_for`
    std::optional<std::int64_t> grace_told;         ///< what is waited for since `grace_told_at`
    kube::TimePoint grace_told_at{};
    std::optional<kube::TimePoint> without_twin_since;    ///< since when its namespace has no twin, as far as is known
    std::optional<kube::TimePoint> without_rights_since;  ///< its orders are refused for lack of rights
    /// Digest of what the server at home did not take of the last status, such as fields of a newer Kubernetes: while
    /// neither side has changed, it is not sent again.
    std::string not_taken;
    bool seen = false;  ///< what is or was at the provider of it, since this process leads
    bool told_dropped_fields = false, told_not_reflected = false;
    bool told_left_out = false;
    bool looked_behind = false;  ///< the provider has been asked what is left of it in a withdrawn twin
    bool freed = false;          ///< the end of its ShadowPod has been taken for room in the quota
    /// When the provider last refused it, how often in a row, and the digest of what was refused. Not set: it may ask.
    std::optional<kube::TimePoint> refused_at;
    int refusals = 0;
    std::string refused_order;
    /// Likewise of a resize: the digest of what was refused, what was said, and when it may be asked for again.
    std::string refused_resize;
    core::ResizeRefusal resize_refusal;
    kube::TimePoint resize_again_at{};
    bool resizes = false;  ///< what the provider has taken of a resize is not done there yet
    core::WarningQuestions questions;
    core::IssuedTokens tokens;
  };

  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  /// Ends a pod that was made to look at its node, which is none.
  asio::awaitable<kube::Outcome> refuse_node_debugger(kube::Object local);
  asio::awaitable<kube::Outcome> reconcile_unmapped(kube::ObjectKey key, kube::Object local);
  /// One pod of a namespace that has a twin: what is there, what is to be done, and what came of it.
  struct Look {
    kube::ObjectKey key, remote_key;
    std::optional<kube::Object> local = {}, shadow = {}, remote = {};
    core::PodPlan plan = {};
    bool withdrawn = false;
    bool seen = false;  ///< what is or was at the provider of it, since this process leads
    bool mounts_tokens = false, needs_tokens = false, knows_tokens = false;
    kube::Outcome outcome = kube::Outcome::done();  ///< how the reconcile ends where nothing is sooner
    bool is_sent = false;                           ///< the provider has all that the pod asks for
    std::string ephemeral_refusal = {};
    core::ResizeRefusal resize_refusal = {};
    std::optional<kube::Duration> ending_left = {}, resize_left = {};
  };
  asio::awaitable<kube::Outcome> reconcile_mapped(kube::ObjectKey key, std::string remote_namespace);
  /// Takes what the caches have, and decides.
  Look look_at(const kube::ObjectKey& key, const std::string& remote_namespace);
  /// Takes it into the memory, which it answers as the plan needs it.
  core::PodMemory remember(Look& look);
  /// What follows for other pods, and for the time of this one.
  void note_plan(Look& look);
  /// These carry out parts of the plan, and say how the reconcile ends where it goes no further.
  asio::awaitable<std::optional<kube::Outcome>> confirm_end(Look& look);
  asio::awaitable<std::optional<kube::Outcome>> act(Look& look);
  asio::awaitable<std::optional<kube::Outcome>> order(Look& look);
  asio::awaitable<kube::Outcome> await_shadow(const Look& look);
  /// Brings what has changed at home to the ShadowPod.
  asio::awaitable<kube::Result<void>> keep(Look& look);
  asio::awaitable<void> keep_size(Look& look);
  /// Whatever ends the pod, on one side or both.
  asio::awaitable<kube::Result<void>> end_pod(Look& look);
  /// Writes the status at home.
  asio::awaitable<std::optional<kube::Outcome>> show(Look& look);
  /// How the reconcile ends where the status may be written later.
  std::optional<kube::Outcome> status_waits(const Look& look);
  /// An Event of what the provider has left out of its pod, when that is first seen.
  void tell_left_out(const kube::Object& local, const kube::Object& remote);
  asio::awaitable<kube::Result<void>> create_shadow(const kube::Object& local, kube::ObjectKey remote_key);
  /// Whether there was anything to send.
  asio::awaitable<kube::Result<bool>> update_shadow(const kube::Object& local, const kube::Object& shadow);
  /// Brings the amounts of the pod to its ShadowPod; answers what the provider says against them.
  asio::awaitable<kube::Result<core::ResizeRefusal>> resize_shadow(kube::Object local, kube::ObjectKey remote_key,
                                                                   kube::Object remote);
  /// Brings the ephemeral containers of the pod to its ShadowPod; answers what the provider says against them, "" =
  /// nothing.
  asio::awaitable<kube::Result<std::string>> add_ephemeral(kube::Object local, kube::ObjectKey remote_key,
                                                           kube::Object remote);
  /// Sends a patch of the pod's ShadowPod; the answer is in its cache then. Answers what the provider will not have.
  asio::awaitable<kube::Result<std::optional<kube::Failure>>> change_shadow(kube::Object local,
                                                                            kube::ObjectKey remote_key,
                                                                            kube::json::object patch,
                                                                            std::string_view phase);
  /// The ShadowPod as the cache has it now, if it is that of this very pod.
  std::optional<kube::Object> shadow_of(const kube::Object& local, const kube::ObjectKey& remote_key);
  /// Notes when what was taken of a resize is done.
  void see_resize(const kube::Object& local, const kube::Object& shadow, const kube::Object& remote);
  /// Notes whether a resize of the pod waits for room.
  void note_resize(const kube::ObjectKey& key, bool waits);
  asio::awaitable<kube::Result<void>> delete_shadow(kube::ObjectKey key, kube::ObjectKey remote_key,
                                                    core::pod_action::DeleteShadow action);
  /// Whether the provider has of the pod what the caches say, by a live look; they are told where it has not.
  asio::awaitable<kube::Result<bool>> confirm(kube::ObjectKey key, kube::ObjectKey remote_key, std::string shadow_uid,
                                              std::string remote_uid);
  /// Whether this process has offloaded the pod itself, if anybody has, and knows what it has sent.
  bool is_ours_alone(const kube::Object& local) const;
  /// Makes the ShadowPod say within how many seconds its pod is to end; not where the provider refuses that.
  asio::awaitable<kube::Result<void>> tell_grace(kube::ObjectKey key, kube::Object shadow, std::int64_t seconds);
  /// How long the provider may still take to end the pod so. After that it is given up.
  kube::Duration await_ending(const kube::Object& local, std::int64_t seconds);
  /// Watches the Secrets with tokens in a twin: from the first pod on that needs one.
  void watch_tokens(const std::string& local, Twin& twin);
  /// Does so where such a Secret of this node is there, which may be all that is left of a pod: of one that went while
  /// this process was down. The key without a name of a pod stands for this, and for leave_withdrawn().
  asio::awaitable<kube::Outcome> look_for_tokens(std::string local);
  /// Brings the Secret with the pod's tokens up to date; answers when to look again. `is_mounted`: its ShadowPod mounts
  /// it. Does nothing before it is known what tokens there are, which brings the pod back.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> ensure_tokens(kube::ObjectKey key,
                                                                             const kube::Object* local,
                                                                             std::string remote_namespace,
                                                                             bool is_mounted);
  /// The same, uncounted.
  /// What there is of a pod's tokens, and what is to be done about them.
  struct TokenLook {
    std::optional<kube::Object> secret;
    core::IssuedTokens issued;
    core::TokenPlan plan;
  };
  asio::awaitable<kube::Result<TokenLook>> look_at_tokens(kube::ObjectKey key, const kube::Object* local,
                                                          std::string remote_namespace, bool is_mounted);
  /// Adds the tokens that the plan asks for.
  asio::awaitable<kube::Result<void>> request_tokens(const kube::Object& local, const core::TokenPlan& plan,
                                                     core::IssuedTokens& issued);
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> write_tokens(kube::ObjectKey key,
                                                                            const kube::Object* local,
                                                                            std::string remote_namespace,
                                                                            bool is_mounted);
  /// Creates the Secret, or changes the one that is `known`. Where another one has the name by now, it fails.
  asio::awaitable<kube::Result<kube::Object>> write_token_secret(kube::Object wanted,
                                                                 std::optional<kube::Object> known);
  /// An Event that the provider will not have the pod's token Secret as it is to be; none where it may yet.
  void tell_refused_tokens(const kube::Object& local, const kube::Failure& refusal);
  /// How long a refused pod must not ask again, because it did a moment ago, or because another one of its demand asks
  /// for it; nothing = it asks now.
  std::optional<kube::Duration> wait_for_room(const kube::Object& local, std::string_view remote_namespace);
  /// One Event on the pod as it was before it told of the refusal.
  void tell_refusal(const kube::Object& local, const std::string& message);
  /// Has the provider asked, in time, why the remote pod is not ready.
  void see_remote(const kube::Object& local, const kube::Object& remote);
  /// Asks for the Events of one remote pod, where that is due.
  asio::awaitable<kube::Outcome> ask_events(kube::WorkKey key);
  /// Notes that the Events of a twin namespace are not ours to read.
  void note_no_right(const std::string& remote_namespace, const kube::Failure& refusal);
  /// One Event of each warning, on the pod as it was before it told of it.
  void tell_warning(const kube::Object& local, const std::string& message);
  asio::awaitable<kube::Result<void>> write_status(const kube::Object& local, core::WantedStatus wanted);
  /// Notes how long a pod took that is shown as running for the first time.
  void note_start(const kube::Object& shown);
  /// Says so, once for what is declared: a provider that lies about each pod must not cost an Event for each.
  void tell_address_left_out(const kube::Object& local, const std::string& address);
  asio::awaitable<kube::Result<void>> remove_local(kube::ObjectKey key, std::string uid);
  /// Deletes a local pod whose remote pod does not end, unless the provider says that it has.
  asio::awaitable<kube::Result<void>> evict_local(kube::Object local, kube::ObjectKey remote_key,
                                                  core::pod_action::EvictLocal action);

  /// Notes how an order of the pod was answered; null = it was taken.
  void note_order(const kube::Object& local, const kube::Failure* refusal);
  /// Notes whether the pod waits because there is no room for it.
  void note_refusal(const kube::ObjectKey& key, bool refused);

  Twin* find_twin(const std::string& local_namespace);
  reflector::ReflectionSeries series_of(std::string_view local_namespace,
                                        const kube::Resource& kind = kube::resources::pods) const {
    return {.metrics = context_.metrics, .ns = local_namespace, .kind = kind.kind, .forging = forging_};
  }
  /// One of the caches of the namespace's twin, for what that twin has just been asked; null where the namespace has
  /// another twin by now, or none.
  kube::Informer* cache_of(const std::string& local_namespace, std::string_view remote_namespace,
                           kube::InformerHandle TwinWatch::* which);
  /// Whether the claim of that name, in the pod's namespace, gets its volume where the pod runs.
  bool has_volume_there(const kube::Object& local, std::string_view claim) const;
  Memory& memory_of(const kube::ObjectKey& key, std::string_view uid);
  /// Notes since when the remote pod has been seen to be deleted.
  void see_ending(Memory& memory, const kube::Object* remote) const;
  void enqueue(const kube::ObjectKey& local_key);
  void enqueue_all();
  /// Makes pods ask again that were refused.
  void wake(const std::vector<kube::ObjectKey>& refused, kube::Duration delay = {});
  /// Something has changed by which the provider may now take what it refused: who asks for the refused asks soon.
  void ask_again();
  /// Every key that objects of this node have in a mapped namespace, here and there.
  void enqueue_twin(const std::string& local_namespace);
  /// Enqueues what is known here of an object in the twin of this node, or bears its name.
  void enqueue_changed(const TwinWatch& watch, const kube::Change& change);
  bool is_of_this_node(const kube::Object* object) const {
    return object && object->label(api::labels::node_name) == forging_.node_name;
  }
  bool is_known_here(const kube::ObjectKey& local) const {
    return local_pods_->store().contains(local) || memory_.contains(local);
  }
  void enqueue_token_pod(const std::string& local, const kube::ObjectKey& secret);
  Twin& start_twin(const std::string& local, const std::string& remote);
  /// Watches the twin that a namespace had, where pods of this node may be left in it.
  void watch_withdrawn(const std::string& local);
  /// Does so where something of this pod, which was there before this process, is left in the twin. One that does not
  /// show a remote pod may have been placed in the last moments before: the provider is asked, once.
  asio::awaitable<kube::Result<void>> look_behind(kube::Object local);
  /// Whether a twin is to be watched, though there is nothing in it.
  bool is_needed(const TwinWatch& watch) const;
  /// Ends the watch of a withdrawn twin in which nothing of this node is left.
  void leave_withdrawn(const std::string& local);

  core::ForgingContext forging_;
  Provider provider_;
  ProviderBudget& budget_;
  Context context_;
  kube::WallTime begun_;  ///< since then nobody but this process has offloaded pods
  std::optional<core::PeerAddresses> addresses_;
  bool told_address_left_out_ = false;
  std::string withdrawal_;
  core::NamespaceMapping mapping_;
  bool mapping_known_ = false;
  TwinWatches::Membership reader_;
  std::map<std::string, Twin, std::less<>> twins_;  ///< by local namespace
  std::map<std::string, std::string> left_;         ///< withdrawn twins that are known to hold nothing, likewise
  std::unordered_map<kube::ObjectKey, Memory> memory_;
  core::RefusedOrders refused_;
  kube::TimePoint asking_at_{};             ///< when `ask_again` makes pods ask
  std::set<kube::ObjectKey> without_room_;  ///< pods whose last order was refused for lack of room
  std::set<kube::ObjectKey> resizes_;       ///< pods whose last resize was refused for lack of room
  kube::ObjectKey last_resize_;             ///< the one of them that `ask_again` made ask last
  kube::TimePoint refused_until_{};         ///< so long it counts when none of them waits any more
  bool closed_ = false, closed_is_told_ = false;
  std::function<void()> room_changed_;
  kube::InformerHandle local_pods_;
  kube::InformerHandle claims_;                  ///< where there is a class whose volumes follow their pods
  kube::InformerHandle virtual_nodes_, slices_;  ///< what is granted, for `ask_again`
  kube::Controller controller_;
  kube::Controller questions_;  ///< of Events, apart: a provider that is slow to answer them holds up nothing else
  /// Until when twin namespaces are not asked for Events, because the provider refuses that.
  std::map<std::string, kube::TimePoint> no_right_until_;
  kube::Histogram start_times_;
  kube::Log log_;
};

}  // namespace liqo::controllers
