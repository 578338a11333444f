#include "controllers/reflection/copy_writer.hpp"

#include <utility>

#include "controllers/reflection/address_note.hpp"
#include "controllers/reflection/copy_reports.hpp"
#include "controllers/reflection/narrowed_copies.hpp"
#include "controllers/reflection/status_gatherer.hpp"
#include "core/namespaces/twin_owner.hpp"
#include "core/policy/orders.hpp"
#include "core/reflection/was_there_before.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
namespace json = kube::json;
namespace action = core::reflection::reflection_action;
using kube::Outcome;

/// Whether this answer to an apply means that it was not carried out and never will be. A field that the schema of a
/// custom resource does not have is answered with 500 (kubernetes/kubernetes#139253).
bool is_refusal(const kube::Failure& failure) {
  return failure.is_permanent() ||
         (failure.http_code() == 500 && failure.text().contains("failed to create typed patch object"));
}

bool is_custom(const core::reflection::ReflectedKind& kind) {
  return core::reflection::find_reflected_kind(kind.name) == nullptr;
}

/// Whether a copy that is there is a door of the whole copy that was refused, but without what was refused of it: the
/// narrowed copy is refused, too.
bool is_left_open(const kube::Object& live, const kube::Object& local, core::reflection::RefusedParts refused,
                  std::string_view wanted_class) {
  const bool has_another_class =
      refused.load_balancer_class && kube::string_at(live.spec(), {"loadBalancerClass"}) != wanted_class;
  refused.load_balancer_class = false;
  return has_another_class || core::reflection::differs_in(live, local, refused);
}

bool has_notes(const kube::Object& wanted) {
  json::object metadata = wanted.metadata();
  return !core::take_out_notes(metadata).empty();
}

}  // namespace

asio::awaitable<kube::Result<std::optional<kube::OwnerReference>>> CopyWriter::owner_of(bool is_there) {
  std::optional<kube::OwnerReference> owner;
  if (!context_.owners) co_return owner;
  if (!is_custom(context_.kind)) co_return co_await context_.owners->of(ns_->twin().ns());
  // The provider's admission does not look at custom resources: one is created without an owner.
  if (is_there) co_return co_await context_.owners->read(ns_->twin().ns());
  co_return owner;
}

asio::awaitable<kube::Result<void>> CopyWriter::set_owner(kube::Object remote) {
  if (!context_.owners) co_return kube::Result<void>();
  KUBE_CO_TRY(owner, co_await context_.owners->read(ns_->twin().ns()));
  auto owners = owner ? core::owners_with(remote, *owner) : std::nullopt;
  if (!owners || !ns_->is_current()) co_return kube::Result<void>();
  const kube::ObjectKey key = remote.key();
  const json::object patch{{"metadata", json::object{{"uid", remote.uid()},
                                                     {"resourceVersion", remote.resource_version()},
                                                     {"ownerReferences", std::move(*owners)}}}};
  auto patched =
      co_await context_.provider.patch(context_.kind.copies(), key, {kube::PatchType::merge, json::serialize(patch)},
                                       {.field_manager = api::reflection_manager});
  if (!patched && patched.error().is_not_found()) co_return kube::Result<void>();
  if (!patched) {
    context_.owners->note_failure(*owner, patched.error());
    co_return kube::fail(std::move(patched.error()), "naming the twin as the owner of a copy in " + key.ns);
  }
  Copies& copies = ns_->twin().copies();
  const Copy* known = copies.find(key.name);
  if (known && known->settled_for && known->version == remote.version_number())
    copies.settle(*patched, *known->settled_for, known->source, known->is_ours);
  co_return kube::Result<void>();
}

asio::awaitable<Outcome> CopyWriter::apply(kube::Object local, action::Apply wanted) {
  const std::uint64_t wishes = ns_->wishes();
  KUBE_CO_TRY(owner, co_await owner_of(wanted.force));
  if (!ns_->is_current()) co_return Outcome::done();
  if (owner) wanted.desired.add_owner_reference(*owner);
  const kube::ObjectKey key{ns_->twin().ns(), std::string(wanted.desired.name())};
  // The controller keeps the earliest of the times that are asked for.
  ns_->queue().add_after({}, check_after);
  const kube::WriteOptions options{.field_manager = api::reflection_manager};
  auto applied = co_await context_.provider.patch(
      context_.kind.copies(), key, {kube::PatchType::apply, wanted.desired.text(), wanted.force}, options);
  Copies& copies = ns_->twin().copies();
  if (!applied && owner && context_.owners->note_failure(*owner, applied.error()))
    co_return Outcome::retry(std::move(applied.error()).in("reflecting to " + key.ns));
  if (!applied && applied.error().is_conflict()) {
    // Another owner has taken the name, or there is another copy by now.
    copies.doubt(key.name);
    co_return Outcome::retry(std::move(applied.error()).in("applying the copy"));
  }
  if (!applied && !is_refusal(applied.error())) {
    // The apply may have been carried out all the same, and then the object is a copy of this cluster.
    copies.doubt(key.name);
    if (!wanted.force) ns_->notes().unsure.insert(key.name);
    co_return Outcome::retry(std::move(applied.error()).in("reflecting to " + key.ns));
  }
  if (!applied) co_return co_await end_refused(std::move(local), std::move(wanted), std::move(applied.error()));
  if (!wanted.force && core::reflection::was_there_before(*applied, api::reflection_manager)) {
    copies.doubt(key.name);
    ns_->notes().unsure.insert(key.name);
    co_return co_await give_back(key.name);
  }
  ns_->notes().replaced.erase(key.name);
  ns_->notes().unsure.erase(key.name);
  ns_->queue().note_look(local.name());
  report_stored(local, wanted.desired);
  CopyReports(ns_->notes(), context_).see(local, *applied);
  ns_->notes().counters.add_reflected(context_.series_of(ns_->home().ns()));
  if (context_.copied) context_.copied(ns_->home().ns());
  const std::string wish(wanted.desired.annotation(api::annotations::reflected_digest));
  copies.settle(*applied, wish, local.version_number());
  if (context_.kind.gather) {
    StatusGatherer gatherer(ns_, context_);
    json::value status = context_.kind.gather(local, *applied);
    auto gathered = co_await gatherer.bring_home(std::move(local), key.name, std::move(status));
    if (!gathered) co_return std::move(gathered.error());
    copies.settle_source(key.name, *gathered);
  } else if (context_.kind.addresses) {
    AddressNote note(ns_, context_);
    auto shown = co_await note.show(std::move(local), key.name, context_.kind.addresses(*applied));
    if (!shown) co_return std::move(shown.error());
    copies.settle_source(key.name, *shown);
  }
  // The wish may have changed while this one was sent.
  if (wishes != ns_->wishes()) copies.doubt_source(key.name);
  co_return co_await end_stored(std::move(*applied), std::move(wanted));
}

asio::awaitable<Outcome> CopyWriter::end_stored(kube::Object applied, action::Apply wanted) {
  const std::string name(wanted.desired.name());
  if (!wanted.force && is_custom(context_.kind))
    if (auto owned = co_await set_owner(applied); !owned) {
      // As when an operator there has written it meanwhile: the next look names the owner.
      ns_->notes().unowned.insert(name);
      ns_->twin().copies().doubt(name);
      co_return Outcome::retry(std::move(owned.error()));
    }
  if (!context_.kind.surplus || context_.kind.surplus(applied, wanted.desired).empty()) co_return Outcome::done();
  ns_->twin().copies().doubt(name);
  co_return Outcome::again_after(0s);
}

asio::awaitable<Outcome> CopyWriter::end_refused(kube::Object local, action::Apply wanted, kube::Failure failure) {
  const std::string name(wanted.desired.name());
  // An object that another owner has made there may be the reason for the refusal: the next look reports it.
  if (!wanted.force)
    if (const auto there = co_await ns_->twin().read_object(name); there && *there)
      ns_->twin().copies().find_there(**there);
  if (has_notes(wanted.desired)) {
    ns_->notes().without_notes.emplace(local.name(), false);
    co_return Outcome::again_after(0s);
  }
  NarrowedCopies narrowed(ns_->notes(), context_.kind);
  if (narrowed.see_refused(local, wanted.desired, failure.text(), context_.clock.now()))
    co_return Outcome::again_after(0s);
  const bool is_shut = wanted.force && co_await shut(local, wanted.desired, failure.text());
  failure = std::move(failure).in("reflecting to " + ns_->twin().ns());
  const std::string words =
      failure.text() + core::reflection::advice_about(core::reflection::refused_parts(wanted.desired, failure.text()));
  context_.events.warning(local, context_.kind.resource, api::reasons::failed_reflection,
                          is_shut ? core::reflection::describe_shut(context_.forging.clusters.remote, words) : words);
  co_return Outcome::retry(std::move(failure));
}

asio::awaitable<bool> CopyWriter::shut(const kube::Object& local, const kube::Object& desired, std::string words) {
  if (!context_.kind.is_door) co_return false;
  // The Service at home may be no door any more.
  const bool may_be_open = context_.kind.is_door(local);
  auto refused = core::reflection::refused_parts(desired, words);
  const auto narrowed = ns_->notes().narrowed.find(std::string(local.name()));
  const bool is_narrowed = narrowed != ns_->notes().narrowed.end() && !context_.kind.is_door(desired);
  if (is_narrowed) refused = narrowed->second.refused;
  if (refused.empty()) co_return false;
  const kube::ObjectKey key{ns_->twin().ns(), std::string(desired.name())};
  const std::string uid(desired.uid());
  const auto live = co_await ns_->twin().read_object(key.name);
  if (!live || !*live || (*live)->uid() != uid || !context_.kind.is_door(**live)) co_return false;
  if (may_be_open && is_narrowed && !is_left_open(**live, local, refused, context_.forging.load_balancer_class))
    co_return false;
  if (may_be_open && !is_narrowed && !core::reflection::differs_in(**live, desired, refused)) co_return false;
  const auto removed = co_await context_.provider.remove(context_.kind.copies(), key, {.uid = uid});
  if (!removed && !removed.error().is_not_found()) co_return false;
  ns_->twin().copies().erase(key.name);
  co_return true;
}

void CopyWriter::report_stored(const kube::Object& local, const kube::Object& copy) {
  NarrowedCopies narrowed(ns_->notes(), context_.kind);
  const auto* refused = narrowed.see_stored(std::string(local.name()), copy);
  if (!ns_->notes().narrowed.contains(std::string(local.name()))) return report_notes(local);
  if (refused)
    context_.events.warning(local, context_.kind.resource, api::reasons::left_out,
                            core::reflection::describe_narrowed(*refused, context_.forging.clusters.remote));
}

void CopyWriter::report_notes(const kube::Object& local) {
  auto& without_notes = ns_->notes().without_notes;
  const auto without = without_notes.find(std::string(local.name()));
  if (without == without_notes.end() || std::exchange(without->second, true)) return;
  json::object metadata = local.metadata();
  context_.events.normal(local, context_.kind.resource, api::reasons::left_out,
                         "cluster " + context_.forging.clusters.remote +
                             " refuses what is only noted in this cluster, so the copy goes "
                             "without: " +
                             kube::join(core::take_out_notes(metadata), ", "));
}

asio::awaitable<Outcome> CopyWriter::trim(kube::Object local, kube::Object remote, std::string patch) {
  const kube::ObjectKey key = remote.key();
  const std::uint64_t wishes = ns_->wishes();
  auto trimmed =
      co_await context_.provider.patch(context_.kind.copies(), key, {kube::PatchType::merge, std::move(patch)},
                                       {.field_manager = api::reflection_manager});
  if (!trimmed && trimmed.error().is_not_found()) co_return Outcome::again_after(0s);
  if (!trimmed) {
    kube::Failure failure =
        std::move(trimmed.error()).in("taking away what was added to a copy in " + ns_->twin().ns());
    if (failure.is_permanent())
      context_.events.warning(local, context_.kind.resource, api::reasons::failed_reflection, failure.text());
    co_return Outcome::retry(std::move(failure));
  }
  // A provider's webhook may add the same to each version again: after one trim the copy is settled until it is
  // changed.
  ns_->twin().copies().settle(*trimmed, std::string(trimmed->annotation(api::annotations::reflected_digest)),
                              local.version_number());
  if (wishes != ns_->wishes()) ns_->twin().copies().doubt_source(key.name);
  ns_->notes().counters.add_reflected(context_.series_of(ns_->home().ns()));
  co_return Outcome::done();
}

asio::awaitable<Outcome> CopyWriter::give_back(std::string name) {
  const kube::ObjectKey key{ns_->twin().ns(), std::move(name)};
  const std::string nothing = kube::Object::make(context_.kind.copies(), key).text();
  auto undone = co_await context_.provider.patch(context_.kind.copies(), key, {kube::PatchType::apply, nothing},
                                                 {.field_manager = api::reflection_manager});
  // An object that is invalid without the fields that we set was made by us.
  if (!undone && undone.error().is_permanent()) ns_->notes().unsure.erase(key.name);
  if (!undone) co_return Outcome::retry(std::move(undone.error()).in("giving back an object of somebody else"));
  co_return Outcome::retry(
      kube::Failure(kube::Errc::protocol, "another object has got the name of a copy in " + key.ns));
}

}  // namespace liqo::controllers
