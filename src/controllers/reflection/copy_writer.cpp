#include "controllers/reflection/copy_writer.hpp"

#include <utility>

#include "controllers/reflection/address_note.hpp"
#include "controllers/reflection/status_gatherer.hpp"
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

bool has_notes(const kube::Object& wanted) {
  json::object metadata = wanted.metadata();
  return !core::take_out_notes(metadata).empty();
}

}  // namespace

asio::awaitable<Outcome> CopyWriter::apply(kube::Object local, action::Apply wanted) {
  const std::uint64_t wishes = ns_->wishes();
  const kube::ObjectKey key{ns_->twin().ns(), std::string(wanted.desired.name())};
  // The controller keeps the earliest of the times that are asked for.
  ns_->queue().add_after({}, check_after);
  const kube::WriteOptions options{.field_manager = api::reflection_manager};
  auto applied = co_await context_.provider.patch(
      context_.kind.copies(), key, {kube::PatchType::apply, wanted.desired.text(), wanted.force}, options);
  Copies& copies = ns_->twin().copies();
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
  report_notes(local);
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
  if (!context_.kind.surplus || context_.kind.surplus(*applied, wanted.desired).empty()) co_return Outcome::done();
  copies.doubt(key.name);
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
  failure = std::move(failure).in("reflecting to " + ns_->twin().ns());
  context_.events.warning(local, context_.kind.resource, api::reasons::failed_reflection, failure.text());
  co_return Outcome::retry(std::move(failure));
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
