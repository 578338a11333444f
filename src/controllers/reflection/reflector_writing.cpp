// What a Reflector writes at the provider.
#include "controllers/reflection/reflector_parts.hpp"
#include "core/policy/orders.hpp"
#include "core/reflection/was_there_before.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::reflector {
namespace {

using namespace std::chrono_literals;
namespace json = kube::json;
namespace action = reflection::reflection_action;
using kube::Outcome;

/// Whether this answer to an apply says that it was not carried out and never will be. A field that the schema of a
/// custom resource does not have is answered with 500 (kubernetes/kubernetes#139253).
bool is_refusal(const kube::Failure& failure) {
  return failure.is_permanent() ||
         (failure.http_code() == 500 && failure.text().contains("failed to create typed patch object"));
}

bool has_notes(const kube::Object& wanted) {
  json::object metadata = wanted.metadata();
  return !core::admission::take_out_notes(metadata).empty();
}

}  // namespace

asio::awaitable<Outcome> Reflector::apply(Shared ns, kube::Object local, action::Apply wanted) {
  const std::uint64_t wishes = ns->wishes;
  const kube::ObjectKey key{ns->remote, std::string(wanted.desired.name())};
  // The controller keeps the earliest of the times that are asked for.
  controller_.enqueue_after({ns->local, {ns->local, {}}}, check_after);
  const kube::WriteOptions options{.field_manager = api::reflection_manager};
  auto applied = co_await context_.provider.patch(
      kind_.copies(), key, {kube::PatchType::apply, wanted.desired.text(), wanted.force}, options);
  if (!applied && applied.error().is_conflict()) {
    // Another owner has taken the name, or there is another copy by now.
    ns->copies.doubt(key.name);
    co_return Outcome::retry(std::move(applied.error()).in("applying the copy"));
  }
  if (!applied) {
    const bool refused = is_refusal(applied.error());
    // The apply may have been carried out all the same, and then the object is a copy of this cluster.
    if (!refused) ns->copies.doubt(key.name);
    if (!refused && !wanted.force) ns->unsure.insert(key.name);
    // An object that another owner has made there may be the reason for the refusal: the next look reports it.
    if (refused && !wanted.force)
      if (const auto there = co_await read_copy(ns, key.name); there && *there) ns->copies.find_there(**there);
    if (refused && has_notes(wanted.desired)) {
      ns->without_notes.emplace(local.name(), false);
      co_return Outcome::again_after(0s);
    }
    kube::Failure failure = std::move(applied.error()).in("reflecting to " + ns->remote);
    if (refused) context_.events.warning(local, kind_.resource, api::reasons::failed_reflection, failure.text());
    co_return Outcome::retry(std::move(failure));
  }
  if (!wanted.force && core::was_there_before(*applied, api::reflection_manager)) {
    ns->copies.doubt(key.name);
    ns->unsure.insert(key.name);
    co_return co_await give_back(ns, key.name);
  }
  ns->replaced.erase(key.name);
  ns->unsure.erase(key.name);
  if (kind_.pace.interval > 0s) ns->looked_at[std::string(local.name())] = context_.clock.now();
  tell_notes(*ns, local);
  ns->counters.add_reflected(series_of(*ns));
  if (context_.copied) context_.copied(ns->local);
  const std::string wish(wanted.desired.annotation(api::annotations::reflected_digest));
  ns->copies.settle(*applied, wish, local.version_number());
  if (kind_.gather) {
    json::value status = kind_.gather(local, *applied);
    auto gathered = co_await gather(ns, std::move(local), key.name, std::move(status));
    if (!gathered) co_return std::move(gathered.error());
    ns->copies.settle_source(key.name, *gathered);
  }
  // The wish may have changed while this one was sent.
  if (wishes != ns->wishes) ns->copies.doubt_source(key.name);
  if (!kind_.surplus || kind_.surplus(*applied, wanted.desired).empty()) co_return Outcome::done();
  ns->copies.doubt(key.name);
  co_return Outcome::again_after(0s);
}

void Reflector::tell_notes(Namespace& ns, const kube::Object& local) {
  const auto without = ns.without_notes.find(std::string(local.name()));
  if (without == ns.without_notes.end() || std::exchange(without->second, true)) return;
  json::object metadata = local.metadata();
  context_.events.normal(local, kind_.resource, api::reasons::left_out,
                         "cluster " + forging_.clusters.remote +
                             " refuses what is only noted in this cluster, so the copy goes "
                             "without: " +
                             kube::join(core::admission::take_out_notes(metadata), ", "));
}

asio::awaitable<Outcome> Reflector::trim(Shared ns, kube::Object local, kube::Object remote, std::string patch) {
  const kube::ObjectKey key = remote.key();
  const std::uint64_t wishes = ns->wishes;
  auto trimmed = co_await context_.provider.patch(kind_.copies(), key, {kube::PatchType::merge, std::move(patch)},
                                                  {.field_manager = api::reflection_manager});
  if (!trimmed && trimmed.error().is_not_found()) co_return Outcome::again_after(0s);
  if (!trimmed) {
    kube::Failure failure = std::move(trimmed.error()).in("taking away what was added to a copy in " + ns->remote);
    if (failure.is_permanent())
      context_.events.warning(local, kind_.resource, api::reasons::failed_reflection, failure.text());
    co_return Outcome::retry(std::move(failure));
  }
  // A provider's webhook may add the same again to each version: after one trim the copy is settled until somebody
  // changes it.
  ns->copies.settle(*trimmed, std::string(trimmed->annotation(api::annotations::reflected_digest)),
                    local.version_number());
  if (wishes != ns->wishes) ns->copies.doubt_source(key.name);
  ns->counters.add_reflected(series_of(*ns));
  co_return Outcome::done();
}

/// Takes back the fields set on an object that another owner has made since this namespace was read, and leaves it
/// alone.
asio::awaitable<Outcome> Reflector::give_back(Shared ns, std::string name) {
  const kube::ObjectKey key{ns->remote, std::move(name)};
  const std::string nothing = kube::Object::make(kind_.copies(), key).text();
  auto undone = co_await context_.provider.patch(kind_.copies(), key, {kube::PatchType::apply, nothing},
                                                 {.field_manager = api::reflection_manager});
  // An object that is invalid without the fields set here was made here.
  if (!undone && undone.error().is_permanent()) ns->unsure.erase(key.name);
  if (!undone) co_return Outcome::retry(std::move(undone.error()).in("giving back an object of somebody else"));
  co_return Outcome::retry(
      kube::Failure(kube::Errc::protocol, "another object has got the name of a copy in " + key.ns));
}

}  // namespace liqo::reflector
