#include "controllers/slices/virtual_node_creator.hpp"

#include <set>

#include "core/common/owner.hpp"
#include "core/common/peer_names.hpp"
#include "core/slices/slice_node.hpp"
#include "kube/base/text.hpp"
#include "kube/runtime/finalizer.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "kube/runtime/remove_object.hpp"
#include "kube/runtime/to_keys.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/resource_slice.hpp"

namespace liqo::controllers {

using kube::Outcome;
namespace conditions = api::slice_conditions;

namespace {

/// Index of VirtualNodes by the slice that they name, and by the UID of the one that they were made of.
constexpr std::string_view by_slice = "of-slice";
std::string name_value(std::string_view slice) { return "name " + std::string(slice); }
std::string uid_value(std::string_view slice) { return "uid " + std::string(slice); }

void index_by_slice(const kube::Object& virtual_node, std::vector<std::string>& out) {
  if (const auto name = virtual_node.label(api::labels::resource_slice_name); !name.empty())
    out.push_back(name_value(name));
  if (const auto owner = virtual_node.controller()) out.push_back(uid_value(owner->uid));
}

}  // namespace

VirtualNodeCreator::VirtualNodeCreator(TenantNamespaces& namespaces, ProviderBudgets& budgets, Context context)
    : context_(std::move(context)),
      namespaces_(namespaces),
      budgets_(budgets),
      slices_(context_.home.acquire({.resource = api::kinds::resource_slices})),
      identities_(context_.home.acquire({.resource = api::kinds::identities})),
      virtual_nodes_(context_.home.acquire({.resource = api::kinds::virtual_nodes})),
      controller_(context_, {.name = "resourceslice_vncreator"},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  controller_.watch(slices_);
  controller_.watch(identities_, kube::without_prefix(core::slice_identity_name(""), slices_));
  virtual_nodes_->add_index(std::string(by_slice), index_by_slice);
  controller_.watch(virtual_nodes_, [this](const kube::Change& node) { see_node(node); });
  namespaces_.watched_by(controller_, slices_);
}

void VirtualNodeCreator::see_node(const kube::Change& node) {
  std::set<std::string, std::less<>> names{node.key.name}, uids;
  for (const kube::Object* object : {node.now, node.previous()}) {
    if (!object) continue;
    names.emplace(object->label(api::labels::resource_slice_name));
    if (const auto owner = object->controller()) uids.emplace(owner->uid);
  }
  const kube::Store& slices = slices_->store();
  for (const kube::ObjectKey& key : slices.keys_in(node.key.ns))
    if (names.contains(key.name) || uids.contains(slices.uid(key))) controller_.enqueue({key.ns, key});
}

std::vector<kube::Object> VirtualNodeCreator::nodes_of(const kube::Object& slice) const {
  std::set<kube::ObjectKey> keys;
  for (const std::string& value : {name_value(slice.name()), uid_value(slice.uid())})
    for (kube::ObjectKey& key : virtual_nodes_->store().keys(by_slice, value))
      if (key.ns == slice.ns()) keys.insert(std::move(key));
  std::vector<kube::Object> found;
  for (const kube::ObjectKey& key : keys)
    if (auto node = virtual_nodes_->find(key)) found.push_back(std::move(*node));
  return found;
}

asio::awaitable<kube::Result<void>> VirtualNodeCreator::remove_node(kube::Object virtual_node) {
  if (virtual_node.is_deleting()) co_return kube::Result<void>();
  KUBE_CO_TRYV(co_await kube::remove_object(
      context_.home.api(), api::kinds::virtual_nodes, virtual_node.key(),
      {.options = {.uid = std::string(virtual_node.uid())}, .phase = "removing a VirtualNode of the slice"}));
  co_return kube::Result<void>();
}

std::string VirtualNodeCreator::kubeconfig_secret_of(const kube::Object& slice) const {
  const auto identity = identities_->find({std::string(slice.ns()), core::slice_identity_name(slice.name())});
  if (!identity || !core::is_controlled_by(*identity, slice)) return "";
  return std::string(api::Identity(*identity).kubeconfig_secret());
}

asio::awaitable<Outcome> VirtualNodeCreator::reconcile(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  const auto slice = slices_->find(key);
  if (!slice) co_return Outcome::done();
  const api::ResourceSlice view(*slice);
  if (!view.is_local()) co_return Outcome::done();
  if (slice->is_deleting()) co_return co_await end(*slice);
  const std::string peer = namespaces_.peer_of(key.ns);
  if (peer.empty() || view.provider() != peer) co_return Outcome::done();

  const bool has_nodes = !nodes_of(*slice).empty();
  const auto existing = virtual_nodes_->find(key);
  const bool wanted = core::wants_virtual_node(*slice);
  if (!wanted && existing && core::is_node_of(*existing, *slice)) {
    KUBE_CO_TRYV(co_await remove_node(*existing));
  }
  std::string secret = kubeconfig_secret_of(*slice);
  const bool ready = wanted && view.is_accepted(conditions::authentication) &&
                     view.is_accepted(conditions::resources) && !secret.empty();
  kube::Api& home = context_.home.api();
  // The slice is held first, so that it never goes before its VirtualNode.
  KUBE_CO_TRYV(ready || has_nodes ? co_await add_finalizer(home, *slices_, *slice, api::finalizers::resource_slice)
                                  : co_await remove_finalizer(home, *slices_, *slice, api::finalizers::resource_slice));
  if (!ready || (existing && existing->is_deleting())) co_return Outcome::done();
  co_return co_await write_node(*slice, existing, std::move(secret));
}

asio::awaitable<Outcome> VirtualNodeCreator::end(kube::Object slice) {
  const std::vector<kube::Object> nodes = nodes_of(slice);
  for (const kube::Object& node : nodes) {
    KUBE_CO_TRYV(co_await remove_node(node));
  }
  if (!nodes.empty()) co_return Outcome::done();  // their removal enqueues the slice
  KUBE_CO_TRYV(
      co_await remove_finalizer(context_.home.api(), *slices_, std::move(slice), api::finalizers::resource_slice));
  co_return Outcome::done();
}

asio::awaitable<Outcome> VirtualNodeCreator::write_node(kube::Object slice, std::optional<kube::Object> existing,
                                                        std::string secret) {
  const kube::ObjectKey key = slice.key();
  if (context_.settings.nodes.takes_provider_zones) core::take_place(slice);
  const core::SliceNodePlan plan = core::plan_slice_node(slice, secret, existing ? &*existing : nullptr,
                                                         context_.settings.nodes.refused_node_labels);
  namespace action = core::slice_node_action;
  if (const auto* refuse = std::get_if<action::Refuse>(&plan.action)) {
    context_.events.warning(slice, api::kinds::resource_slices, "VirtualNodeExists", refuse->message);
    co_return Outcome::done();
  }
  const auto* create = std::get_if<action::Create>(&plan.action);
  const auto* due = std::get_if<action::Patch>(&plan.action);
  if (!create && !due) co_return Outcome::done();
  const std::string patch = due ? kube::json::serialize(due->patch) : std::string();
  const std::size_t bytes =
      create ? create->virtual_node.text().size() : stored_bytes(*virtual_nodes_, key, patch.size());
  const auto budget = budgets_.of(std::string(api::ResourceSlice(slice).provider()));
  if (const kube::Duration wait = budget->correct_now(bytes); wait > kube::Duration::zero())
    co_return Outcome::again_after(wait);
  kube::Api& home = context_.home.api();
  if (create) {
    auto created = co_await home.create(api::kinds::virtual_nodes, create->virtual_node);
    // The message of admission names the other VirtualNode that has the name, or the owner of the Node.
    if (!created && created.error().is_permanent())
      context_.events.warning(slice, api::kinds::resource_slices, "VirtualNodeRefused",
                              "there is no VirtualNode for what is granted: " + created.error().text());
    if (!created) co_return Outcome::retry(std::move(created.error()).in("creating the VirtualNode of the slice"));
    virtual_nodes_->observe(std::move(*created));
  } else {
    KUBE_CO_TRY(patched,
                co_await kube::merge_patch(home, *virtual_nodes_, key,
                                           {.body = patch, .phase = "correcting the VirtualNode of the slice"}));
    if (!patched) co_return Outcome::done();  // its removal enqueues the slice
  }
  if (!plan.dropped.empty())
    context_.events.warning(
        slice, api::kinds::resource_slices, "AnswerNotUsable",
        "of what the provider says this cannot be used and is left out: " + kube::join(plan.dropped, ", "));
  if (create)
    context_.events.normal(slice, api::kinds::resource_slices, "VirtualNodeCreated",
                           "the VirtualNode " + key.name + " has the size that was granted");
  co_return Outcome::done();
}

}  // namespace liqo::controllers
