#include "liqo/controllers/pod.hpp"

#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/core/forge/shadow_pod.hpp"
#include "liqo/core/forge/shadow_pod_update.hpp"
#include "liqo/core/mapping/names.hpp"
#include "liqo/core/order.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
namespace action = core::pod_action;
using kube::Outcome;
namespace reasons = api::reasons;

/// How long a created ShadowPod may stay unseen before it is read live.
constexpr kube::Duration unseen_time = 5s;

/// Of a provider's pod only what tells its state is needed here.
void prune_remote_pod(kube::json::object& tree) {
  kube::json::object* spec = tree.contains("spec") ? tree["spec"].if_object() : nullptr;
  if (!spec) return;
  kube::json::object kept;
  for (std::string_view field : {"nodeName", "restartPolicy"})
    if (const auto* value = spec->if_contains(field)) kept[field] = *value;
  tree["spec"] = std::move(kept);
}

}  // namespace

PodController::PodController(const asio::any_io_executor& executor, core::ForgingContext forging,
                             kube::InformerSet& provider, Context context)
    : forging_(std::move(forging)),
      provider_(provider),
      context_(context),
      status_context_{.node_ip = context.settings.node_ip, .reflect_ips = context.settings.reflect_ips},
      local_pods_(context.home.acquire(
          {.resource = kube::resources::pods, .selection = {.field_selector = "spec.nodeName=" + forging_.node_name}})),
      controller_(
          executor, context.clock, context.random, context.metrics,
          {.name = "pod",
           .limits = {.workers = context.settings.pod_workers, .workers_per_group = context.settings.pod_workers}},
          [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  local_pods_.subscribe([this](const kube::ObjectKey& key) { enqueue(key); }, [this] { enqueue_all(); });
  const kube::Labels labels{
      {"cluster_id", forging_.clusters.remote}, {"node_name", forging_.node_name}, {"reflector_resource", "pods"}};
  reflected_ = context.metrics.counter("liqo_virtual_kubelet_reflection_item_counter", "Objects reflected.", labels);
  failed_ =
      context.metrics.counter("liqo_virtual_kubelet_reflection_error_counter", "Reflections that failed.", labels);
  enqueue_all();
}

void PodController::enqueue_all() {
  for (const kube::ObjectKey& key : local_pods_->store().keys()) enqueue(key);
  for (const auto& [local, twin] : twins_) enqueue_twin(local);
}

void PodController::enqueue_twin(const std::string& local) {
  const Twin& twin = twins_.at(local);
  for (const kube::ObjectKey& key : local_pods_->store().keys())
    if (key.ns == local) enqueue(key);
  for (const kube::ObjectKey& key : twin.shadows->store().keys()) enqueue({local, key.name});
  for (const kube::ObjectKey& key : twin.pods->store().keys()) enqueue({local, key.name});
  if (!twin.tokens) return;
  for (const kube::ObjectKey& key : twin.tokens->store().keys()) enqueue_token_pod(local, key);
}

void PodController::enqueue_token_pod(const std::string& local, const kube::ObjectKey& secret) {
  if (const std::string_view pod = core::token_secret_pod(secret.name); !pod.empty())
    enqueue({local, std::string(pod)});
}

void PodController::enqueue(const kube::ObjectKey& local_key) { controller_.enqueue({forging_.node_name, local_key}); }

PodController::Twin* PodController::find_twin(const std::string& local_namespace) {
  const auto found = twins_.find(local_namespace);
  return found == twins_.end() ? nullptr : &found->second;
}

void PodController::set_mapping(core::NamespaceMapping mapping) {
  mapping_known_ = true;
  std::vector<std::string> changed;
  for (auto twin = twins_.begin(); twin != twins_.end();) {
    const std::string* remote = mapping.to_remote(twin->first);
    if (remote && *remote == twin->second.remote) {
      ++twin;
    } else {
      twin = twins_.erase(twin);
    }
  }
  mapping_ = std::move(mapping);
  for (const auto& [local, remote] : mapping_.entries())
    if (!twins_.contains(local)) start_twin(local, remote);
  enqueue_all();
}

void PodController::start_twin(const std::string& local, const std::string& remote) {
  Twin& twin = twins_[local];
  twin.remote = remote;
  twin.shadows = provider_.acquire({.resource = api::kinds::shadow_pods, .ns = remote});
  twin.pods = provider_.acquire({.resource = kube::resources::pods, .ns = remote, .prune = prune_remote_pod});
  const auto changed = [this, local](const kube::ObjectKey& key) { enqueue({local, key.name}); };
  const auto synced = [this, local] { enqueue_twin(local); };
  twin.shadows.subscribe(changed, synced);
  twin.pods.subscribe(changed, synced);
  if (context_.settings.api_server_support) {
    twin.tokens = provider_.acquire({.resource = kube::resources::secrets,
                                     .ns = remote,
                                     .selection = {.label_selector = std::string(api::labels::service_account_name)}});
    // Such a Secret may be all that is left of a pod: of one that went while this process was down.
    twin.tokens.subscribe([this, local](const kube::ObjectKey& key) { enqueue_token_pod(local, key); }, synced);
  }
}

PodController::Memory& PodController::memory_of(const kube::ObjectKey& key, std::string_view uid) {
  Memory& memory = memory_[key];
  if (memory.uid != uid) memory = Memory{.uid = std::string(uid)};
  return memory;
}

asio::awaitable<Outcome> PodController::reconcile(kube::WorkKey key) {
  // Nothing is decided before all caches are complete; their completion brings every key back here.
  if (!local_pods_->has_synced() || !mapping_known_) co_return Outcome::done();
  const Twin* twin = find_twin(key.object.ns);
  if (twin && !twin->has_synced()) co_return Outcome::done();

  std::optional<Outcome> outcome;
  if (twin) {
    outcome = co_await reconcile_mapped(key.object, twin->remote);
  } else if (auto local = local_pods_->find(key.object)) {
    outcome = co_await reconcile_unmapped(key.object, std::move(*local));
  } else {
    memory_.erase(key.object);
    outcome = Outcome::done();
  }
  if (outcome->failure()) failed_.add();
  co_return std::move(*outcome);
}

asio::awaitable<Outcome> PodController::reconcile_unmapped(kube::ObjectKey key, kube::Object local) {
  const auto plan = core::plan_unmapped_pod(local, mapping_.is_troubled(key.ns));
  if (plan == core::UnmappedPodAction::nothing) co_return Outcome::done();
  if (plan == core::UnmappedPodAction::remove_local) {
    auto removed = co_await remove_local(key, std::string(local.uid()));
    if (!removed) co_return Outcome::retry(std::move(removed.error()));
    co_return Outcome::done();
  }
  const bool aborts = plan == core::UnmappedPodAction::abort;
  const std::string message =
      "Namespace " + key.ns + " has no twin in cluster " + forging_.clusters.remote +
      ": offload the namespace, or keep the pod off nodes labelled liqo.io/type=virtual-node (a DaemonSet needs an "
      "affinity for that)";
  auto wanted = core::forge_rejection(local, aborts ? "Failed" : "Pending",
                                      aborts ? reasons::offloading_aborted : reasons::offloading_back_off, message,
                                      context_.clock.wall());
  auto written = co_await write_status(local, std::move(wanted));
  if (!written) co_return Outcome::retry(std::move(written.error()));
  context_.events.warning(local, kube::resources::pods, reasons::reflection_disabled, message);
  co_return Outcome::done();
}

asio::awaitable<Outcome> PodController::reconcile_mapped(kube::ObjectKey key, std::string remote_namespace) {
  const kube::ObjectKey remote_key{remote_namespace, key.name};
  std::optional<kube::Object> local, shadow, remote;
  core::PodPlan plan;
  {
    const Twin& twin = *find_twin(key.ns);
    local = local_pods_->find(key);
    shadow = twin.shadows->find(remote_key);
    remote = twin.pods->find(remote_key);
    if (!local && !shadow && !remote) memory_.erase(key);
    core::PodMemory remembered;
    if (local) {
      Memory& memory = memory_of(key, local->uid());
      if (shadow) memory.plan.shadow_created = false;
      if (remote && core::is_run_of(*remote, *local, forging_.clusters)) memory.plan.remote_started = true;
      memory.plan.order_in_doubt = context_.clock.now() < memory.in_doubt_until;
      remembered = memory.plan;
    }
    plan = core::plan_pod(local ? &*local : nullptr, shadow ? &*shadow : nullptr, remote ? &*remote : nullptr,
                          remembered, forging_);
  }

  Outcome outcome = Outcome::done();
  kube::Result<void> done;
  if (const auto* refuse = std::get_if<action::RefuseForeign>(&plan.action)) {
    if (local) {
      auto wanted = core::forge_refusal(*local, reasons::failed_reflection, refuse->message, context_.clock.wall());
      done = co_await write_status(*local, std::move(wanted));
      context_.events.warning(*local, kube::resources::pods, reasons::failed_reflection, refuse->message);
    }
  } else if (std::holds_alternative<action::AwaitShadow>(plan.action)) {
    const Memory& memory = memory_of(key, local->uid());
    const kube::Duration waited = context_.clock.now() - memory.shadow_created_at;
    if (waited < unseen_time) co_return Outcome::again_after(unseen_time - waited);
    auto live = co_await provider_.api().get(api::kinds::shadow_pods, remote_key);
    Twin* twin = find_twin(key.ns);
    if (live && twin) twin->shadows->observe(std::move(*live));
    if (!live && live.error().is_not_found()) memory_of(key, local->uid()).plan.shadow_created = false;
    if (!live && !live.error().is_not_found()) co_return Outcome::retry(std::move(live.error()));
    co_return Outcome::again_after(0ms);
  } else if (std::holds_alternative<action::AwaitOrder>(plan.action)) {
    outcome = Outcome::again_after(memory_of(key, local->uid()).in_doubt_until - context_.clock.now());
  } else if (std::holds_alternative<action::CreateShadow>(plan.action)) {
    if (context_.settings.api_server_support) {
      auto tokens = co_await ensure_tokens(key, &*local, remote_namespace);
      if (!tokens) co_return Outcome::retry(std::move(tokens.error()));
    }
    done = co_await create_shadow(*local, remote_key);
    // The ShadowPod's appearance brings the pod back here. Where it existed already, the cache may lag.
    const Twin* twin = find_twin(key.ns);
    if (done && twin && !twin->shadows->store().contains(remote_key)) outcome = Outcome::again_after(unseen_time);
  } else if (std::holds_alternative<action::KeepShadow>(plan.action)) {
    done = co_await update_shadow(*local, *shadow);
    if (done && context_.settings.api_server_support) {
      auto tokens = co_await ensure_tokens(key, &*local, remote_namespace);
      if (!tokens) {
        done = std::unexpected(std::move(tokens.error()));
      } else if (*tokens) {
        outcome = Outcome::again_after(**tokens);
      }
    }
  } else if (const auto* remove = std::get_if<action::DeleteShadow>(&plan.action)) {
    done = co_await delete_shadow(key, remote_key, *remove);
  } else if (const auto* remove_it = std::get_if<action::RemoveLocal>(&plan.action)) {
    done = co_await remove_local(key, remove_it->uid);
    if (!done) context_.events.warning(*local, kube::resources::pods, reasons::failed_deletion, done.error().text());
  } else if (const auto* fail = std::get_if<action::FailLocal>(&plan.action)) {
    auto wanted = core::forge_rejection(*local, "Failed", fail->reason, fail->message, context_.clock.wall());
    done = co_await write_status(*local, std::move(wanted));
    if (done) context_.events.warning(*local, kube::resources::pods, fail->reason, fail->message);
  } else if (!local && context_.settings.api_server_support) {
    auto tokens = co_await ensure_tokens(key, nullptr, remote_namespace);
    if (!tokens) done = std::unexpected(std::move(tokens.error()));
  }
  if (!done) co_return Outcome::retry(std::move(done.error()));

  if (plan.copy_status && local && remote) {
    Memory& memory = memory_of(key, local->uid());
    const kube::TimePoint now = context_.clock.now();
    if (!memory.remote_seen_at) memory.remote_seen_at = now;
    const kube::Duration left = core::status_may_wait(*local, *remote, now - *memory.remote_seen_at);
    if (left > 0ms) co_return outcome.delay() && *outcome.delay() < left ? outcome : Outcome::again_after(left);
  }
  if (plan.copy_status && local) {
    auto wanted = core::forge_local_status(*local, remote ? &*remote : nullptr, shadow ? &*shadow : nullptr,
                                           status_context_, context_.clock.wall());
    if (wanted) {
      auto written = co_await write_status(*local, std::move(*wanted));
      if (!written) co_return Outcome::retry(std::move(written.error()));
    }
  }
  co_return outcome;
}

asio::awaitable<kube::Result<void>> PodController::create_shadow(const kube::Object& local,
                                                                 kube::ObjectKey remote_key) {
  auto forged = core::forge_shadow_pod(local, remote_key.ns, forging_);
  std::optional<kube::Failure> failure;
  if (!forged) {
    failure = std::move(forged.error());
  } else {
    core::stamp_order(forged->shadow, context_.clock.wall());
    const kube::TimePoint sent_at = context_.clock.now();
    auto created = co_await provider_.api().create(api::kinds::shadow_pods, forged->shadow);
    if (!created && core::may_be_carried_out(created.error()))
      memory_of(local.key(), local.uid()).in_doubt_until = sent_at + core::order_doubt;
    if (created) {
      reflected_.add();
      if (Twin* twin = find_twin(std::string(local.ns())); twin && twin->remote == remote_key.ns)
        twin->shadows->observe(std::move(*created));
      Memory& memory = memory_of(local.key(), local.uid());
      memory.plan.shadow_created = true;
      memory.shadow_created_at = context_.clock.now();
      if (!forged->dropped_fields.empty() && !std::exchange(memory.told_dropped_fields, true)) {
        std::string fields;
        for (const std::string& field : forged->dropped_fields) fields += (fields.empty() ? "" : ", ") + field;
        context_.events.warning(local, kube::resources::pods, reasons::fields_dropped,
                                "These fields have no effect in cluster " + forging_.clusters.remote + ": " + fields);
      }
      co_return kube::Result<void>();
    }
    // Somebody was faster: we, before a restart or a lost answer, or a foreigner. The cache will show which.
    if (created.error().is_already_exists()) co_return kube::Result<void>();
    failure = std::move(created.error());
  }
  if (failure->is_permanent() || failure->code() == kube::Errc::invalid_input) {
    const std::string message =
        "Cluster " + forging_.clusters.remote + " refuses the pod: " + core::refusal_words(*failure);
    context_.events.warning(local, kube::resources::pods, reasons::failed_reflection, message);
    auto wanted = core::forge_refusal(local, reasons::offloading_refused, message, context_.clock.wall());
    auto told = co_await write_status(local, std::move(wanted));
    if (!told) co_return told;
  }
  co_return kube::fail(std::move(*failure), "offloading the pod");
}

asio::awaitable<kube::Result<void>> PodController::update_shadow(const kube::Object& local,
                                                                 const kube::Object& shadow) {
  auto patch = core::plan_shadow_pod_update(local, shadow, forging_);
  if (!patch) co_return kube::Result<void>();
  auto patched = co_await provider_.api().patch(api::kinds::shadow_pods, shadow.key(), kube::PatchType::merge,
                                                kube::json::serialize(*patch));
  if (!patched) {
    if (patched.error().is_permanent() && !patched.error().is_not_found())
      context_.events.warning(
          local, kube::resources::pods, reasons::failed_reflection,
          "Cluster " + forging_.clusters.remote + " refuses the change: " + core::refusal_words(patched.error()));
    co_return kube::fail(std::move(patched.error()), "updating the ShadowPod");
  }
  reflected_.add();
  if (Twin* twin = find_twin(std::string(local.ns())); twin && twin->remote == shadow.ns())
    twin->shadows->observe(std::move(*patched));
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> PodController::delete_shadow(kube::ObjectKey key, kube::ObjectKey remote_key,
                                                                 action::DeleteShadow remove) {
  if (remove.confirm_first) {
    auto live = co_await context_.home.api().get(kube::resources::pods, key);
    if (!live && !live.error().is_not_found()) co_return std::unexpected(std::move(live.error()));
    const bool is_unowned = !live || (!remove.owner_uid.empty() && live->uid() != remove.owner_uid);
    if (!is_unowned) co_return kube::fail(kube::Errc::closed, "the cache of local pods lags behind");
  }
  auto removed = co_await provider_.api().remove(api::kinds::shadow_pods, remote_key, {.uid = remove.uid});
  if (!removed && removed.error().is_not_found()) {
    if (Twin* twin = find_twin(key.ns); twin && twin->remote == remote_key.ns)
      twin->shadows->observe_gone(remote_key, remove.uid);
    co_return kube::Result<void>();
  }
  if (!removed) co_return kube::fail(std::move(removed.error()), "deleting the ShadowPod");
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> PodController::remove_local(kube::ObjectKey key, std::string uid) {
  auto removed =
      co_await context_.home.api().remove(kube::resources::pods, key, {.uid = uid, .grace_period_seconds = 0});
  memory_.erase(key);
  if (!removed && !removed.error().is_not_found())
    co_return kube::fail(std::move(removed.error()), "removing the terminated pod");
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> PodController::write_status(const kube::Object& local, core::WantedStatus wanted) {
  auto patch = core::status_patch(local, wanted);
  if (!patch) co_return kube::Result<void>();
  // The patch is a difference to what the cache showed: a request that was long under way must not undo a later one.
  (*patch)["metadata"].as_object()["resourceVersion"] = local.resource_version();
  auto patched =
      co_await context_.home.api().patch(kube::resources::pods, local.key(), kube::PatchType::strategic_merge,
                                         kube::json::serialize(*patch), {.subresource = "status"});
  if (patched) {
    local_pods_->observe(std::move(*patched));
    co_return kube::Result<void>();
  }
  if (patched.error().is_not_found()) co_return kube::Result<void>();
  co_return kube::fail(std::move(patched.error()), "writing the pod's status");
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> PodController::ensure_tokens(
    kube::ObjectKey key, const kube::Object* local, std::string remote_namespace) {
  const kube::ObjectKey secret_key{remote_namespace, core::token_secret_name(key.name)};
  std::optional<kube::Object> secret;
  if (Twin* twin = find_twin(key.ns)) secret = twin->tokens->find(secret_key);
  core::IssuedTokens issued;
  if (local) issued = memory_of(key, local->uid()).tokens;
  core::TokenPlan plan = core::plan_tokens(local, secret ? &*secret : nullptr, issued, forging_, context_.clock.wall());
  if (plan.refuse_foreign) {
    if (local)
      context_.events.warning(*local, kube::resources::pods, reasons::failed_tokens,
                              "Secret " + secret_key.text() + " of cluster " + forging_.clusters.remote +
                                  " is not ours: the pod gets no service-account tokens");
    co_return std::optional<kube::Duration>();
  }
  if (!plan.delete_uid.empty()) {
    auto removed = co_await provider_.api().remove(kube::resources::secrets, secret_key, {.uid = plan.delete_uid});
    if (!removed && !removed.error().is_not_found())
      co_return kube::fail(std::move(removed.error()), "deleting the token Secret");
    if (Twin* twin = find_twin(key.ns); twin && twin->tokens) twin->tokens->observe_gone(secret_key, plan.delete_uid);
  }
  if (!local) co_return std::optional<kube::Duration>();
  if (secret && issued.empty() && plan.delete_uid.empty()) issued = core::read_token_secret(*secret);
  for (const core::TokenRequest& request : plan.to_request) {
    const kube::ObjectKey account{key.ns, core::service_account_of(*local)};
    auto answer = co_await context_.home.api().post(kube::resources::service_accounts, account, "token",
                                                    core::forge_token_request(*local, request));
    if (!answer) {
      const std::string words = core::token_refusal(*local, answer.error(), forging_.clusters);
      if (!words.empty()) context_.events.warning(*local, kube::resources::pods, reasons::failed_tokens, words);
      co_return kube::fail(std::move(answer.error()), "requesting a service-account token");
    }
    if (!answer->is_object()) co_return kube::fail(kube::Errc::parse, "a token answer that is no object");
    auto token = core::read_token_answer(kube::Object(std::move(answer->get_object())));
    if (!token) co_return std::unexpected(std::move(token.error()));
    issued[request.key] = std::move(*token);
  }
  if (!plan.to_request.empty()) {
    const kube::Object wanted = core::forge_token_secret(*local, remote_namespace, issued, forging_);
    auto applied = co_await provider_.api().apply(kube::resources::secrets, wanted, api::reflection_manager);
    if (!applied) co_return kube::fail(std::move(applied.error()), "reflecting the service-account tokens");
    if (Twin* twin = find_twin(key.ns); twin && twin->tokens && twin->remote == remote_namespace)
      twin->tokens->observe(std::move(*applied));
  }
  memory_of(key, local->uid()).tokens = std::move(issued);
  if (!plan.next_check) co_return std::optional<kube::Duration>();
  const auto left = std::chrono::duration_cast<kube::Duration>(*plan.next_check - context_.clock.wall());
  const auto jitter = kube::Duration(context_.random.between(0, kube::Duration(30s).count()));
  co_return std::optional<kube::Duration>(std::max<kube::Duration>(left, 1s) + jitter);
}

}  // namespace liqo::controllers
