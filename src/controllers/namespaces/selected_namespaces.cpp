#include "controllers/namespaces/selected_namespaces.hpp"

#include "kube/client/find_live.hpp"
#include "kube/runtime/to_keys.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/namespace_offloading.hpp"

namespace liqo::controllers {
namespace {

using kube::Outcome;

/// The part of a namespace that counts: others write its status and annotations.
std::string selected_by(const kube::Object& ns) {
  return kube::json::serialize(ns.labels()) + (ns.is_deleting() ? "-" : "+");
}

}  // namespace

SelectedNamespaces::SelectedNamespaces(Context context)
    : context_(context),
      namespaces_(context.home.acquire({.resource = kube::resources::namespaces})),
      offloadings_(context.home.acquire({.resource = api::kinds::namespace_offloadings})),
      controller_(context, {.name = "selectednamespaces"},
                  [this](kube::WorkKey work) { return reconcile(std::move(work)); }) {
  const auto all = [this] { controller_.enqueue_all(namespaces_->store()); };
  controller_.watch(
      namespaces_,
      [](const kube::Change& ns) { return ns.changes(selected_by) ? std::optional(ns.key) : std::nullopt; }, all);
  controller_.watch(offloadings_, kube::to_namespace, all);
}

asio::awaitable<Outcome> SelectedNamespaces::reconcile(kube::WorkKey work) {
  const core::NamespaceSelection& selection = context_.settings.namespaces.selected_namespaces;
  auto ns = namespaces_->find(work.object);
  // Everything in the namespace goes with it.
  if (!ns || ns->is_deleting()) co_return Outcome::done();
  const std::string& own = context_.settings.liqo_namespace;
  auto offloading = offloadings_->find({work.object.name, std::string(api::namespace_offloading_name)});
  const bool is_wanted = selection.selects(*ns, own);
  if (selection.matches(*ns) && !is_wanted)
    context_.events.warning(*ns, kube::resources::namespaces, "NotOffloaded",
                            "the labels are those of --offload-namespaces (" + selection.text() + "), but " +
                                core::why_not_selected(*ns, own));
  if (is_wanted && !offloading) co_return co_await offload(std::move(*ns));
  if (!is_wanted && offloading && core::is_of_selection(*offloading) && !offloading->is_deleting())
    co_return co_await take_back(std::move(*offloading));
  co_return Outcome::done();
}

asio::awaitable<Outcome> SelectedNamespaces::offload(kube::Object ns) {
  const core::NamespaceSelection& selection = context_.settings.namespaces.selected_namespaces;
  auto made =
      co_await context_.home.api().create(api::kinds::namespace_offloadings, selection.forge_offloading(ns.name()));
  if (!made) {
    // The cache shows an existing NamespaceOffloading; nothing can be created in a namespace that is being deleted.
    if (made.error().is_already_exists() || made.error().is_not_found()) co_return Outcome::done();
    co_return Outcome::retry(std::move(made.error()).in("offloading the namespace for its labels"));
  }
  log_.info("the namespace is offloaded for its labels",
            {{"namespace", std::string(ns.name())}, {"selector", selection.text()}});
  offloadings_->observe(std::move(*made));
  co_return Outcome::done();
}

asio::awaitable<Outcome> SelectedNamespaces::take_back(kube::Object offloading) {
  // Deleting a NamespaceOffloading ends all its pods elsewhere: a cache that may be stale is not enough.
  KUBE_CO_TRY(
      ns,
      co_await kube::find_live(context_.home.api(), kube::resources::namespaces, {"", std::string(offloading.ns())}),
      "reading the labels of the namespace");
  if (!ns) co_return Outcome::done();
  const bool is_kept = ns->is_deleting() ||
                       context_.settings.namespaces.selected_namespaces.selects(*ns, context_.settings.liqo_namespace);
  namespaces_->observe(std::move(*ns));
  if (is_kept) co_return Outcome::done();
  // If a user removes the annotation meanwhile, the NamespaceOffloading stays.
  auto removed = co_await context_.home.api().remove(
      api::kinds::namespace_offloadings, offloading.key(),
      {.uid = std::string(offloading.uid()), .resource_version = std::string(offloading.resource_version())});
  if (!removed && removed.error().is_conflict())
    co_return Outcome::retry(std::move(removed.error()).in("the NamespaceOffloading has changed meanwhile"));
  if (!removed && !removed.error().is_not_found())
    co_return Outcome::retry(std::move(removed.error()).in("taking back the offloading of the namespace"));
  if (removed)
    log_.info("the namespace is no longer offloaded: its labels are not those any more",
              {{"namespace", std::string(offloading.ns())},
               {"selector", context_.settings.namespaces.selected_namespaces.text()}});
  co_return Outcome::done();
}

}  // namespace liqo::controllers
