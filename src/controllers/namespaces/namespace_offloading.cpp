#include "controllers/namespaces/namespace_offloading.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>
#include <set>
#include <utility>

#include "controllers/common/ensure_binding.hpp"
#include "controllers/common/guarded_write.hpp"
#include "controllers/common/key_of_many.hpp"
#include "controllers/common/scopes.hpp"
#include "controllers/reflection/stale_addresses.hpp"
#include "core/common/home_names.hpp"
#include "core/common/owner.hpp"
#include "core/common/peer_names.hpp"
#include "core/namespaces/belonging.hpp"
#include "core/namespaces/remote_name.hpp"
#include "core/peering/forge.hpp"
#include "kube/runtime/finalizer.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using kube::Outcome;
namespace labels = api::labels;
namespace json = kube::json;

/// There may be thousands of NamespaceOffloadings, which are enqueued over several turns of the loop.
constexpr std::size_t max_enqueued_in_a_turn = 256;

}  // namespace

NamespaceOffloadingController::NamespaceOffloadingController(Context context)
    : context_(context),
      user_(context.home.api()),
      data_(
          context, [this](const core::storage::RemoteData& data) { enqueue(data.claim.ns); },
          [this] { enqueue_all(); }),
      notices_(context, [this](const std::string& cluster) { enqueue_awaiting(cluster); }),
      offloadings_(context.home.acquire({.resource = api::kinds::namespace_offloadings})),
      namespaces_(context.home.acquire({.resource = kube::resources::namespaces})),
      virtual_nodes_(context.home.acquire({.resource = api::kinds::virtual_nodes})),
      nodes_(context.home.acquire(scope_of_virtual_nodes())),
      maps_(context.home.acquire({.resource = api::kinds::namespace_maps})),
      bindings_(context.home.acquire({.resource = api::kinds::role_bindings, .selection = core::kept_by_liqo()})),
      offered_(context, virtual_nodes_, nodes_,
               {.selected = [this](const std::vector<std::string>& selectors) { enqueue_selecting(selectors); },
                .homes =
                    [this](const std::string& cluster) {
                      if (twins_.recount(cluster)) enqueue_all();
                    },
                .synced = [this] { enqueue_all(); }}),
      twins_(maps_, offered_,
             {.changed = [this](const std::string& ns) { enqueue(ns); }, .all_changed = [this] { enqueue_all(); }}),
      knowing_(virtual_nodes_, [this] { enqueue_all(); }),
      earlier_pods_(context),
      token_right_(context, bindings_),
      controller_(context, {.name = "namespaceoffloading"},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  const auto synced = [this] { enqueue_all(); };
  controller_.watch(offloadings_, [this](const kube::ObjectKey& key) { enqueue(key.ns); }, synced);
  controller_.watch(
      namespaces_,
      [this](const kube::ObjectKey& key) {
        if (offloadings_->store().contains({key.name, std::string(api::namespace_offloading_name)})) enqueue(key.name);
      },
      synced);
  controller_.watch(
      bindings_,
      [this](const kube::ObjectKey& key) {
        if (key.name == core::own_offloaded_role || key.name == core::own_token_role) enqueue(key.ns);
      },
      synced);
  controller_.reads(virtual_nodes_, nodes_, maps_, data_);
}

void NamespaceOffloadingController::enqueue(const std::string& ns) {
  controller_.enqueue({"", {ns, std::string(api::namespace_offloading_name)}});
}

void NamespaceOffloadingController::enqueue_all() {
  is_all_due_ = true;
  enqueue_many();
}

void NamespaceOffloadingController::enqueue_awaiting(const std::string& cluster) {
  const std::vector<std::string> awaiting = twins_.awaiting(cluster);
  if (awaiting.size() > max_enqueued_in_a_turn) return enqueue_all();
  for (const std::string& ns : awaiting) enqueue(ns);
}

void NamespaceOffloadingController::enqueue_many() {
  const kube::Duration left = pause_.left(context_.clock.now());
  if (left > kube::Duration::zero())
    controller_.enqueue_after(key_of_many(), left);
  else
    controller_.enqueue(key_of_many());
}

void NamespaceOffloadingController::enqueue_selecting(const std::vector<std::string>& selectors) {
  std::set<std::string> found;
  for (const std::string& selector : selectors)
    for (std::string& ns : offered_.selections().askers(selector)) found.insert(std::move(ns));
  if (found.size() <= max_enqueued_in_a_turn) {
    for (const std::string& ns : found) enqueue(ns);
    return;
  }
  due_selectors_.insert(selectors.begin(), selectors.end());
  enqueue_many();
}

asio::awaitable<void> NamespaceOffloadingController::spread() {
  pause_.begin(context_.clock.now());
  const auto selectors = std::exchange(due_selectors_, {});
  if (std::exchange(is_all_due_, false))
    for (const kube::ObjectKey& key : offloadings_->store().keys()) due_.insert(key.ns);
  else
    for (const std::string& selector : selectors)
      for (std::string& ns : offered_.selections().askers(selector)) due_.insert(std::move(ns));
  for (std::size_t enqueued = 0; !due_.empty();) {
    enqueue(due_.extract(due_.begin()).value());
    if (++enqueued % max_enqueued_in_a_turn == 0) co_await asio::post(asio::use_awaitable);
  }
}

std::vector<core::TwinState> NamespaceOffloadingController::twin_states(const kube::Object& offloading,
                                                                        const core::NodeSelector* selector,
                                                                        std::string_view remote_name) {
  const std::string ns(offloading.ns());
  const std::vector<core::ReportedTwin> reported = twins_.of(ns);
  std::set<std::string, std::less<>> selected;
  if (selector) {
    const std::string text = json::serialize(api::NamespaceOffloading(offloading).cluster_selector());
    for (const auto& [cluster, nodes] : offered_.selections().ask(ns, text, *selector)) selected.insert(cluster);
  } else {
    offered_.selections().forget(ns);
  }
  const bool is_wish_known = selector || offloading.is_deleting();
  // Only a twin that is to be removed or renamed is held by its content, which may be thousands of volumes.
  const bool may_be_held = is_wish_known && std::ranges::any_of(reported, [&](const core::ReportedTwin& twin) {
                             const bool is_right = remote_name.empty() || twin.asked == remote_name;
                             return !twin.asked.empty() && !(selected.contains(twin.cluster) && is_right);
                           });
  return core::twin_states(
      {.ns = ns,
       .remote_name = std::string(remote_name),
       .reported = reported,
       .selected = std::move(selected),
       .is_wish_known = is_wish_known,
       .data = may_be_held ? std::span(data_.all()) : std::span<const core::storage::RemoteData>()});
}

asio::awaitable<Outcome> NamespaceOffloadingController::reconcile(kube::WorkKey work) {
  if (work == key_of_many()) {
    co_await spread();
    co_return Outcome::done();
  }
  const kube::ObjectKey key = work.object;
  for (const kube::Object& other : offloadings_->objects_in(key.ns)) {
    if (other.name() == key.name) continue;
    context_.events.warning(
        other, api::kinds::namespace_offloadings, api::reasons::invalid,
        "a NamespaceOffloading must be called \"" + key.name + "\": this one has no effect; delete it");
  }
  auto object = offloadings_->find(key);
  if (!object || object->is_deleting()) earlier_pods_.forget(key.ns);
  if (!object) token_right_.forget(key.ns);
  if (!object) offered_.selections().forget(key.ns);
  if (!object) co_return Outcome::done();
  if (object->is_deleting()) co_return co_await withdraw(std::move(*object));

  KUBE_CO_TRYV(
      co_await add_finalizer(context_.home.api(), *offloadings_, *object, api::finalizers::namespace_offloading));
  object = offloadings_->find(key);
  if (!object || object->is_deleting()) co_return Outcome::done();

  const auto entered = co_await enter(*object);
  object = offloadings_->find(key);
  if (!object || object->is_deleting()) co_return Outcome::done();
  KUBE_CO_TRYV(co_await extend(*object));
  if (!entered) co_return Outcome::retry(entered.error());
  KUBE_CO_TRY(again, co_await earlier_pods_.see_to(std::move(*object)));
  if (*entered && (!again || **entered < *again)) again = *entered;
  co_return again ? Outcome::again_after(*again) : Outcome::done();
}

asio::awaitable<Outcome> NamespaceOffloadingController::withdraw(kube::Object object) {
  if (!object.has_finalizer(api::finalizers::namespace_offloading)) co_return Outcome::done();
  auto unlabelled = co_await set_label(std::string(object.ns()), false);
  const core::OffloadingFacts facts{.remote_name = "", .trouble = "", .twins = twin_states(object, nullptr, "")};
  auto written = co_await write_status(object, facts);
  KUBE_CO_TRYV(std::move(unlabelled));
  KUBE_CO_TRYV(std::move(written));
  // A change of the maps enqueues it.
  if (!core::is_withdrawn(facts)) co_return Outcome::done();
  // The right to write there goes with the NamespaceOffloading.
  KUBE_CO_TRYV(co_await clear_remote_addresses(context_.home.api(), std::string(object.ns())));
  KUBE_CO_TRYV(co_await remove_finalizer(context_.home.api(), *offloadings_, latest_of(*offloadings_, object),
                                         api::finalizers::namespace_offloading));
  co_return Outcome::done();
}

asio::awaitable<kube::Result<void>> NamespaceOffloadingController::extend(kube::Object object) {
  const std::string ns_name(object.ns());
  const api::NamespaceOffloading offloading(object);
  const auto selector = core::NodeSelector::parse(offloading.cluster_selector());
  auto name = core::remote_namespace_name(offloading, context_.settings.cluster_id);
  core::OffloadingFacts facts;
  kube::Result<void> labelled;
  if (!selector) {
    context_.events.warning(object, api::kinds::namespace_offloadings, api::reasons::invalid,
                            "spec.clusterSelector cannot be understood: " + selector.error().text() + "; correct it");
    facts.twins = twin_states(object, nullptr, "");
  } else {
    facts.twins = twin_states(object, &*selector, name ? std::string_view(*name) : std::string_view());
    const bool subject = offloading.pod_strategy() != api::PodOffloadingStrategy::local;
    const auto ns = namespaces_->find({"", ns_name});
    const bool begins = subject && ns && ns->label(labels::scheduling_enabled) != "true";
    // A label whose write failed may have been written all the same: found later, it would not cause a look at earlier
    // pods.
    if (begins) earlier_pods_.expect(ns_name);
    labelled = co_await set_label(ns_name, subject);
  }
  for (core::TwinState& twin : facts.twins)
    if (const PeerNotices::Notice* notice = notices_.find(twin.map))
      twin.silence = core::without_count(notice->silence.words);
  if (offloading.pod_strategy() != api::PodOffloadingStrategy::local) add_names(ns_name, facts.twins);
  if (name) {
    facts.remote_name = std::move(*name);
  } else {
    facts.trouble = name.error().text();
    context_.events.warning(object, api::kinds::namespace_offloadings, api::reasons::invalid, facts.trouble);
  }
  auto written = co_await write_status(object, facts);
  if (!labelled) co_return std::unexpected(std::move(labelled.error()));
  co_return written;
}

void NamespaceOffloadingController::add_names(const std::string& ns, std::vector<core::TwinState>& twins) const {
  for (const core::ReportedTwin& reported : twins_.of(ns)) {
    const auto twin = std::ranges::find(twins, reported.cluster, &core::TwinState::map);
    if (twin == twins.end()) continue;
    twin->names = core::names_not_resolved({.ns = ns,
                                            .twin = reported.asked,
                                            .home = context_.settings.cluster_id,
                                            .provider = reported.cluster,
                                            .knows_names = knowing_.knows(reported.cluster),
                                            .words = twin->message});
  }
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> NamespaceOffloadingController::enter(
    kube::Object offloading) {
  // Nothing can be created any more in a namespace that is being deleted.
  if (const auto ns = namespaces_->find({"", std::string(offloading.ns())}); !ns || ns->is_deleting())
    co_return std::nullopt;
  KUBE_CO_TRY(user, co_await user_.name());
  kube::Object binding = core::forge_own_binding(offloading.ns(), user, core::own_offloaded_role);
  binding.add_owner_reference(core::owner_of(offloading, false));
  KUBE_CO_TRYV(co_await ensure_binding(context_.home.api(), *bindings_, std::move(binding)),
               "entering the offloaded namespace");
  co_return co_await token_right_.keep(std::move(offloading), std::move(user));
}

asio::awaitable<kube::Result<void>> NamespaceOffloadingController::set_label(std::string ns, bool wanted) {
  const auto object = namespaces_->find({"", ns});
  if (!object) co_return kube::Result<void>();
  const bool is_right =
      wanted ? object->label(labels::scheduling_enabled) == "true" : !object->has_label(labels::scheduling_enabled);
  if (is_right) co_return kube::Result<void>();
  json::object changes;
  changes[labels::scheduling_enabled] = wanted ? json::value("true") : json::value(nullptr);
  const json::object patch{{"metadata", json::object{{"labels", std::move(changes)}}}};
  KUBE_CO_TRYV(co_await kube::merge_patch(context_.home.api(), *namespaces_, object->key(),
                                          {.body = json::serialize(patch), .phase = "labelling the namespace"}));
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> NamespaceOffloadingController::write_status(const kube::Object& offloading,
                                                                                const core::OffloadingFacts& facts) {
  const auto patch = core::plan_offloading_status(offloading, facts, context_.clock.wall());
  if (!patch) co_return kube::Result<void>();
  const std::string words = core::new_words_about_names(offloading, facts);
  const bool are_pods_there = api::NamespaceOffloading(offloading).pod_strategy() != api::PodOffloadingStrategy::local;
  const std::string found =
      are_pods_there ? core::new_words_about_reads(offloading, facts, context_.settings.cluster_id) : "";
  KUBE_CO_TRY(patched, co_await kube::merge_patch(context_.home.api(), *offloadings_, offloading.key(),
                                                  {.body = json::serialize(*patch),
                                                   .phase = "reporting the status",
                                                   .options = {.subresource = "status"}}));
  if (!patched) co_return kube::Result<void>();
  if (!words.empty())
    context_.events.warning(*patched, api::kinds::namespace_offloadings, api::reasons::names_not_resolved, words);
  if (!found.empty())
    context_.events.warning(*patched, api::kinds::namespace_offloadings, api::reasons::names_resolved, found);
  const auto selects_nobody = [](const kube::Object& object) {
    return kube::string_at(object.status(), {"offloadingPhase"}) == api::no_cluster_selected;
  };
  const bool before = selects_nobody(offloading), now = selects_nobody(*patched);
  if (now && !before)
    log_.info("the namespace is offloaded and selects no provider", {{"namespace", std::string(offloading.ns())}});
  if (before && !now) log_.info("the namespace selects a provider", {{"namespace", std::string(offloading.ns())}});
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
