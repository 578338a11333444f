// The pods of one virtual node: local Pod → ShadowPod → status back.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "controllers/common/context.hpp"
#include "controllers/common/counters.hpp"
#include "controllers/links/provider_budget.hpp"
#include "controllers/links/provider_orders.hpp"
#include "controllers/links/twin_watches.hpp"
#include "controllers/offloading/memory_of.hpp"
#include "controllers/offloading/pod_tokens.hpp"
#include "controllers/offloading/pod_warnings.hpp"
#include "core/common/resources.hpp"
#include "core/namespaces/namespace_mapping.hpp"
#include "core/offloading/pod_plan.hpp"
#include "core/offloading/pod_status.hpp"
#include "core/offloading/refused_orders.hpp"
#include "kube/runtime/controller.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {

/// Guarantees: a pod is identified by its UID; a finished pod never runs again; nothing is written to the provider for
/// a namespace, and nothing is deleted, before the caches of pods at home and of the twin namespace are complete.
/// What the provider refuses stands in its words in one condition and one Event of the local pod, and so does what its
/// Events warn of while the remote pod is not ready. One thread.
class PodController {
 public:
  /// Where the controller reads the provider (`twins` and `caches`, shared with others) and writes to it (`api`). All
  /// outlive the controller.
  struct Provider {
    TwinWatches& twins;
    kube::InformerSet& caches;
    kube::Api& api;
  };
  PodController(core::ForgingContext forging, Provider provider, ProviderBudget& budget, Context context);
  ~PodController();

  /// Takes the namespaces that have a twin now, and starts and stops the watches of twins accordingly.
  void set_mapping(core::NamespaceMapping mapping);
  /// Takes what is declared now about the provider's addresses. Until the first call the addresses that pods show at
  /// home stay as they are.
  void set_addresses(core::PeerAddresses addresses);
  /// The message for pods whose provider has taken our rights away; "" = it has not.
  void set_withdrawal(std::string withdrawal);
  /// Takes what is told of a provider that does not act, for the pods that wait for it.
  void set_silence(core::SilenceNote silence);
  /// Reconciles until cancelled: while this process leads.
  asio::awaitable<void> run();
  /// Asks the provider why pods are not ready, until cancelled: while this process leads.
  asio::awaitable<void> run_questions() { return warnings_.run(); }
  bool is_busy() const { return controller_.is_busy(); }

  /// Whether a pod that the Node could hold waits because its last order was refused for lack of room, or one did until
  /// a moment ago.
  bool has_no_room() const { return closing_ > 0 || context_.clock.now() < refused_until_; }
  /// How many pods wait because their last order was refused for lack of room.
  std::size_t pods_without_room() const { return without_room_.size(); }
  /// Sets what is called when `has_no_room` may have changed.
  void on_room_change(std::function<void()> handler) { room_changed_ = std::move(handler); }
  /// Whether the Node has the taint that keeps new pods away. Pods that ran and are refused then end, so that their
  /// owners make others elsewhere; before, those would come here again. `is_told`: the provider itself says so.
  void set_closed(bool closed, bool is_told);

  /// The pods of this node at home, whether their namespace is mapped or not.
  const kube::Informer& local_pods() const { return *local_pods_; }
  /// The pods in the twin of a namespace; null where that cache is not complete.
  const kube::Informer* twin_pods(const std::string& local_namespace, std::string_view remote_namespace) const;
  const core::NamespaceMapping& mapping() const { return mapping_; }
  const core::ForgingContext& forging() const { return forging_; }

 private:
  /// One twin namespace of this node: there is one of each for each virtual node of a provider.
  struct Twin {
    std::string remote;
    bool withdrawn = false;  ///< nothing is sent to it any more; it is watched until its pods are gone
    std::shared_ptr<TwinWatch> watch;
    reflector::ReflectionCounters counters;
    bool has_synced() const { return watch->has_synced(); }
    /// Finds nothing in a twin that rests, which has no caches.
    std::optional<kube::Object> find(kube::InformerHandle TwinWatch::* which, const kube::ObjectKey& key) const {
      const kube::InformerHandle& cache = (*watch).*which;
      return cache ? cache->find(key) : std::nullopt;
    }
    bool contains(kube::InformerHandle TwinWatch::* which, const kube::ObjectKey& key) const {
      const kube::InformerHandle& cache = (*watch).*which;
      return cache && cache->store().contains(key);
    }
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
    std::optional<std::int64_t> grace_told;  ///< the grace time that the provider has been told since `grace_told_at`
    kube::TimePoint grace_told_at{};
    bool needs_final_phase = false;  ///< `core::needs_final_phase`
    /// Its remote pod as text, as it was when it went, if it had ended and the pod needs its phase: home may not show
    /// that yet.
    std::string ended;
    std::optional<kube::TimePoint> without_twin_since;    ///< since when its namespace is seen without a twin
    std::optional<kube::TimePoint> without_rights_since;  ///< since when its orders are refused for lack of rights
    std::optional<kube::TimePoint> hidden_since;          ///< since when the look at what is left of it is refused
    /// Digest of the part of the last status that the API server at home did not store, such as fields of a newer
    /// Kubernetes. It is not sent again while neither side has changed.
    std::string not_taken;
    /// The turn of its next status among the writes that the provider causes, and for how many bytes.
    std::optional<kube::TimePoint> status_turn;
    std::size_t status_bytes = 0;
    bool told_dropped_fields = false, told_not_reflected = false;
    bool told_left_out = false;
    bool looked_behind = false;  ///< the provider was asked what of the pod is left in a withdrawn twin
    bool freed = false;          ///< refused pods have been woken because its ShadowPod has finished
    /// When the provider last refused an order of the pod (not set: it may be ordered at once), how many it has refused
    /// since it took one, and the digest of the last one.
    std::optional<kube::TimePoint> refused_at;
    int refusals = 0;
    std::string refused_order;
    /// Why the provider's API server could not take the last order, in its words; "" = it could, or it has refused it.
    std::string not_taken_because;
    kube::TimePoint words_again_at{};  ///< when the pod may say something else of that
    std::size_t told_at_change = 0;    ///< how often another silence had been told when it last did
    /// The last refused resize: its digest, the provider's words, and when it may be asked for again.
    std::string refused_resize;
    core::ResizeRefusal resize_refusal;
    kube::TimePoint resize_again_at{};
    bool resizes = false;  ///< the provider has accepted a resize and not completed it yet
  };

  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  /// Ends a pod of `kubectl debug node/…`: a virtual node is no machine to look at.
  asio::awaitable<kube::Outcome> end_node_debugger(kube::Object local);
  asio::awaitable<kube::Outcome> reconcile_unmapped(kube::ObjectKey key, kube::Object local);
  /// What the caches have of one pod of a namespace that has a twin.
  struct Look {
    kube::ObjectKey key, remote_key;
    std::optional<kube::Object> local = {}, shadow = {}, remote = {};
    bool withdrawn = false;  ///< the twin is
    bool mounts_tokens = false, needs_tokens = false, knows_tokens = false;

    core::PodSight sight() const;
  };
  /// What has come of carrying out the plan for one pod so far.
  struct Progress {
    kube::Outcome outcome = kube::Outcome::done();  ///< how the reconcile ends unless something is due sooner
    bool is_sent = false;                           ///< the provider has all that the pod asks for, or has refused it
    std::string ephemeral_refusal = {};
    core::ResizeRefusal resize_refusal = {};
    std::optional<kube::Duration> resize_left = {};  ///< until a refused resize is asked for again
  };
  asio::awaitable<kube::Outcome> reconcile_mapped(kube::ObjectKey key, std::string remote_namespace);
  /// Reads the caches, and starts that of the token Secrets where the pod needs it.
  Look look_at(const kube::ObjectKey& key, const std::string& remote_namespace);
  /// Updates the memory of the pod by what the caches have, and returns the part that the plan needs.
  core::PodMemory remember(const Look& look);
  /// Wakes other pods that the plan makes room for.
  void note_plan(const Look& look, const core::PodAction& plan);
  /// How long the remote pod may still take to end; nothing where there is no end to wait for.
  std::optional<kube::Duration> ending_left(const Look& look);
  /// Each carries out a part of the plan; an Outcome ends the reconcile there.
  asio::awaitable<std::optional<kube::Outcome>> confirm_end(const Look& look);
  asio::awaitable<std::optional<kube::Outcome>> act(const Look& look, const core::PodAction& plan, Progress& progress);
  /// Whether the pod is still there and is not being deleted, and its twin is the same and is not withdrawn.
  bool is_still_wanted(const Look& look);
  asio::awaitable<std::optional<kube::Outcome>> order(const Look& look, Progress& progress);
  asio::awaitable<kube::Outcome> await_shadow(const Look& look);
  /// Brings what has changed at home to the ShadowPod.
  asio::awaitable<kube::Result<void>> keep(const Look& look, Progress& progress);
  asio::awaitable<void> keep_size(const Look& look, Progress& progress);
  /// Whatever ends the pod, on one side or both.
  asio::awaitable<kube::Result<void>> end_pod(const Look& look, const core::PodAction& plan, Progress& progress);
  /// Writes the status at home. Meanwhile it gives up what the caches have of the provider.
  asio::awaitable<std::optional<kube::Outcome>> show(Look& look, Progress& progress);
  /// How the reconcile ends where the status may be written later.
  std::optional<kube::Outcome> status_waits(const Look& look, const Progress& progress);
  /// Sends an Event of what the provider has left out of the remote pod, when that pod is first seen.
  void tell_left_out(const kube::Object& local, const kube::Object& remote);
  asio::awaitable<kube::Result<void>> create_shadow(const kube::Object& local, kube::ObjectKey remote_key);
  /// Whether there was anything to send.
  asio::awaitable<kube::Result<bool>> update_shadow(const kube::Object& local, const kube::Object& shadow);
  /// Brings the amounts of the pod to its ShadowPod; answers what the provider says against them.
  asio::awaitable<kube::Result<core::ResizeRefusal>> resize_shadow(const kube::Object& local,
                                                                   kube::ObjectKey remote_key,
                                                                   const kube::Object& remote);
  /// Brings the ephemeral containers of the pod to its ShadowPod; answers what the provider says against them, "" =
  /// nothing.
  asio::awaitable<kube::Result<std::string>> add_ephemeral(const kube::Object& local, kube::ObjectKey remote_key,
                                                           const kube::Object& remote);
  /// Patches the pod's ShadowPod and puts the answer into the cache. Returns the refusal where the provider will not
  /// take the patch.
  asio::awaitable<kube::Result<std::optional<kube::Failure>>> change_shadow(const kube::Object& local,
                                                                            kube::ObjectKey remote_key,
                                                                            kube::json::object patch,
                                                                            std::string_view phase);
  /// The ShadowPod in the cache, if it was made for the UID of this pod.
  std::optional<kube::Object> shadow_of(const kube::Object& local, const kube::ObjectKey& remote_key);
  /// Wakes refused pods once the provider has completed a resize, which may have freed room.
  void see_resize(const kube::Object& local, const kube::Object& shadow, const kube::Object& remote);
  /// Notes whether a resize of the pod waits for room.
  void note_resize(const kube::ObjectKey& key, bool waits);
  asio::awaitable<kube::Result<void>> delete_shadow(kube::ObjectKey key, kube::ObjectKey remote_key,
                                                    core::pod_action::DeleteShadow action);
  /// Reads ShadowPod and remote pod live and returns whether the caches had them so. What differs goes into the caches.
  asio::awaitable<kube::Result<bool>> confirm(kube::ObjectKey key, kube::ObjectKey remote_key, std::string shadow_uid,
                                              std::string remote_uid);
  /// Whether the pod was created after this process began to lead: no other process can have offloaded it.
  bool is_ours_alone(const kube::Object& local) const;
  /// Writes on the ShadowPod within how many seconds its pod is to end. Where the provider refuses that,
  /// `PodMemory::grace_given_up` is set.
  asio::awaitable<kube::Result<void>> tell_grace(kube::ObjectKey key, kube::Object shadow, std::int64_t seconds);
  /// How long the provider may still take to begin that end. Then `PodMemory::grace_given_up` is set.
  kube::Duration await_ending(const kube::Object& local, std::int64_t seconds);
  /// Starts the watch of token Secrets where the twin has one of this node: the Secret may be all that is left of a pod
  /// that was deleted while this process was down. A work key without a pod name stands for this and for
  /// leave_withdrawn().
  asio::awaitable<kube::Outcome> look_for_tokens(std::string local);
  /// How long a refused pod waits before it is ordered again, because it was refused a moment ago or because another
  /// pod of the same demand asks for both; nothing = it is ordered now.
  std::optional<kube::Duration> wait_for_room(const kube::Object& local, std::string_view remote_namespace);
  /// Sends an Event of the refusal, unless the status of `local`, read before the write, shows one already.
  void tell_refusal(const kube::Object& local, const std::string& message);
  /// A pod and its remote pod, unless nobody asks any more why the latter is not ready.
  std::optional<PodWarnings::Pair> waiting_pair(const kube::ObjectKey& key);
  asio::awaitable<kube::Result<void>> write_status(const kube::Object& local, core::WantedStatus wanted);
  /// The patch that brings the status of the pod at home to what is wanted, as text; nullopt = none is needed.
  std::optional<std::string> plan_status(const kube::Object& local, const core::WantedStatus& wanted);
  /// How long the status has to wait for its turn; zero = it may be sent now. Statuses may be large, so nothing holds
  /// one while it waits: it is forged anew.
  kube::Duration take_turn(const kube::Object& local, std::size_t bytes);
  asio::awaitable<kube::Result<void>> send_status(const kube::Object& local, const core::WantedStatus& wanted,
                                                  std::string body);
  /// Measures how long a pod took to start, when it is shown as running for the first time.
  void note_start(const kube::Object& shown);
  /// Sends one Event per declaration of addresses: a provider that lies about every pod must not cost an Event each.
  void tell_address_left_out(const kube::Object& local, const std::string& address);
  /// Removes a pod of which nothing is left at the provider; its phase becomes final first where others have finalizers
  /// on it.
  asio::awaitable<kube::Result<void>> remove_local(const kube::Object& local);
  /// Deletes a local pod whose remote pod does not end, unless the provider says that it has.
  asio::awaitable<kube::Result<void>> evict_local(kube::Object local, kube::ObjectKey remote_key,
                                                  core::pod_action::EvictLocal action);

  /// Notes whether the pod waits for the provider to act, and has it say why it does.
  asio::awaitable<kube::Result<void>> see_waiting(kube::ObjectKey key);
  asio::awaitable<kube::Result<void>> tell_waiting(kube::Object local);
  void stop_waiting(const kube::ObjectKey& key, core::OpenOrders::End how);
  /// Forgets that the server could not take the last order of the pod. One such pod is tried every few seconds, and the
  /// first success wakes the others.
  void stop_trying(const kube::ObjectKey& key);
  /// Has the pods that wait for the provider tried again.
  void wake_waiting();
  /// Notes whether the provider's API server could take an order of the pod; null = it has.
  void note_taking(const kube::Object& local, const kube::Failure* failure);
  /// Whether an object in the twin was made for this very pod.
  bool is_order_of(const kube::Object& remote, const kube::Object& local) const;
  /// Notes how an order of the pod was answered; null = it was taken.
  void note_order(const kube::Object& local, const kube::Failure* refusal);
  /// Notes that the pod waits because there is no room for it, and that it does no longer.
  void note_refusal(const kube::Object& local);
  void forget_refusal(const kube::ObjectKey& key);
  /// Takes what the Node has for pods.
  void see_node();
  /// Why the Node could never hold the pod, which waits for room; "" = it could, or the pod does not wait.
  std::string why_too_large(const kube::ObjectKey& key) const;

  Twin* find_twin(const std::string& local_namespace);
  reflector::ReflectionSeries series_of(std::string_view local_namespace) const {
    return {
        .metrics = context_.metrics, .ns = local_namespace, .kind = kube::resources::pods.kind, .forging = forging_};
  }
  /// One of the caches of the namespace's twin, to put an answer of that twin into; null where the namespace has
  /// another twin by now, or none.
  kube::Informer* cache_of(const std::string& local_namespace, std::string_view remote_namespace,
                           kube::InformerHandle TwinWatch::* which);
  /// Whether the claim of that name, in the pod's namespace, gets its volume where the pod runs.
  bool has_volume_there(const kube::Object& local, std::string_view claim) const;
  Memory& memory_of(const kube::ObjectKey& key, std::string_view uid) {
    return controllers::memory_of(memory_, key, uid);
  }
  /// Remembers of a remote pod what no cache has any more once it is gone.
  void see_remote(const kube::ObjectKey& key, const kube::Change& change);
  /// Notes whether the remote pod has a node, and returns whether it is that of this local one.
  bool see_placed(Memory& memory, const kube::Object& remote) const;
  /// The remote pod of a local one that is being deleted and has to show how that one has ended, which is gone.
  std::optional<kube::Object> ended_remote(const kube::Object& local) const;
  /// Forgets a pod that is gone.
  void forget(const kube::ObjectKey& key);
  /// Notes since when the remote pod has been seen to be deleted.
  void see_ending(Memory& memory, const kube::Object* remote) const;
  void enqueue(const kube::ObjectKey& local_key);
  void enqueue_all();
  /// Has refused pods ordered again.
  void wake(const std::vector<kube::ObjectKey>& refused, kube::Duration delay = {});
  /// To be called when the provider may have room again: the refused pods that ask for their demand are ordered soon.
  void ask_again();
  /// Enqueues every pod of the namespace of which this node has an object at home or in the twin.
  void enqueue_twin(const std::string& local_namespace);
  /// Enqueues the pod of a changed object in a twin, if the pod is known here or the object bears this node's name.
  void enqueue_changed(const TwinWatch& watch, const kube::Change& change);
  bool is_of_this_node(const kube::Object* object) const {
    return object && object->label(api::labels::node_name) == forging_.node_name;
  }
  bool is_known_here(const kube::ObjectKey& local) const {
    return local_pods_->store().contains(local) || memory_.contains(local);
  }
  void enqueue_token_pod(const std::string& local, const kube::ObjectKey& secret);
  Twin& start_twin(const std::string& local, const std::string& remote);
  /// Starts the watch of a withdrawn twin, unless it is known to hold nothing of this node.
  void watch_withdrawn(const std::string& local);
  /// Starts that watch where the twin holds something of a pod that an earlier process may have offloaded. Where the
  /// pod shows no remote pod, it may have been offloaded just before the restart: the provider is asked once.
  asio::awaitable<kube::Result<void>> look_behind(kube::Object local);
  /// Whether this node needs the watch of a twin even where the twin is empty.
  bool is_needed(const TwinWatch& watch) const;
  /// Ends the watch of a withdrawn twin in which nothing of this node is left.
  void leave_withdrawn(const std::string& local);

  core::ForgingContext forging_;
  Provider provider_;
  ProviderBudget& budget_;
  Context context_;
  kube::TimePoint begun_;  ///< since when only this process has offloaded pods
  std::optional<core::PeerAddresses> addresses_;
  bool told_address_left_out_ = false;
  std::string withdrawal_;
  core::SilenceNote silence_;
  std::size_t silence_changes_ = 0;
  std::set<kube::ObjectKey> waiting_;    ///< pods that wait for the provider to act
  std::set<kube::ObjectKey> not_taken_;  ///< those of them whose last order the server there could not take
  core::NamespaceMapping mapping_;
  bool mapping_known_ = false;
  TwinWatches::Membership reader_;
  std::map<std::string, Twin, std::less<>> twins_;  ///< by local namespace
  std::map<std::string, std::string> left_;         ///< withdrawn twins that hold nothing, likewise
  std::unordered_map<kube::ObjectKey, Memory> memory_;
  core::RefusedOrders refused_;
  kube::TimePoint asking_at_{};  ///< when `ask_again` makes pods ask
  /// A pod whose last order was refused for lack of room.
  struct Waiting {
    core::Resources demand;
    bool fits = false;  ///< the Node could hold it if nothing else were on it
  };
  std::map<kube::ObjectKey, Waiting> without_room_;
  std::size_t closing_ = 0;            ///< those of them that fit
  core::Resources allocatable_;        ///< of the Node; nothing where it is not known
  std::set<kube::ObjectKey> resizes_;  ///< pods whose last resize was refused for lack of room
  kube::ObjectKey last_resize_;        ///< the one of them that `ask_again` made ask last
  kube::TimePoint refused_until_{};    ///< until when the provider counts as full though no pod waits
  bool closed_ = false, closed_is_told_ = false;
  std::function<void()> room_changed_;
  OrderBook orders_;
  kube::InformerHandle local_pods_;
  kube::InformerHandle claims_;                  ///< acquired where a storage class has volumes that follow their pods
  kube::InformerHandle virtual_nodes_, slices_;  ///< what is granted, for `ask_again`
  std::map<std::string, std::string> slice_names_;  ///< of the VirtualNodes of this node's name, by their namespaces
  kube::InformerHandle nodes_;                      ///< what the scheduler at home goes by
  kube::Controller controller_;
  PodTokens tokens_;
  PodWarnings warnings_;
  kube::Histogram start_times_;
  kube::Log log_;
};

}  // namespace liqo::controllers
