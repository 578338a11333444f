#include "controllers/reflection/address_note.hpp"

#include <algorithm>
#include <utility>

#include "core/common/digest.hpp"
#include "core/reflection/remote_addresses.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

namespace json = kube::json;
using namespace std::chrono_literals;
using kube::Outcome;

/// The pauses before addresses are written again that others at home have taken away.
constexpr kube::Duration first_pause = 10s, longest_pause = 1h;
/// The pause after another write of the object came in between.
constexpr kube::Duration conflict_pause = 200ms;

std::string digest_of(const std::vector<std::string>& addresses) {
  return core::digest_hex(kube::join(addresses, " "));
}

}  // namespace

std::optional<kube::Duration> AddressNote::rest_if_changed(const kube::Object& local) const {
  if (!context_.kind.addresses) return std::nullopt;
  const auto all = core::reflection::RemoteAddresses::read(local.annotation(api::annotations::remote_addresses));
  const auto& notes = ns_->notes().addressed;
  const auto note = notes.find(std::string(local.name()));
  const bool is_noted = note != notes.end();
  if ((is_noted ? note->second.digest : digest_of({})) == digest_of(all.of(context_.forging.clusters.remote)))
    return std::nullopt;
  return is_noted ? std::max(kube::Duration::zero(), note->second.again - context_.clock.now())
                  : kube::Duration::zero();
}

kube::Duration AddressNote::take_turn(ObjectNotes::Addressed& note, std::size_t bytes) const {
  const kube::TimePoint now = context_.clock.now();
  // Somebody has taken away what was written.
  if (note.pause > 0s && now < note.again) return note.again - now;
  if (!context_.home_write) return 0s;
  if (!note.turn) note.turn = now + context_.home_write(bytes);
  if (now < *note.turn) return *note.turn - now;
  note.turn.reset();
  return 0s;
}

std::unexpected<Outcome> AddressNote::end(const std::string& remote_name, Outcome outcome) {
  // The object at home is read again then.
  ns_->twin().copies().doubt_source(remote_name);
  return std::unexpected(std::move(outcome));
}

asio::awaitable<std::expected<std::uint64_t, Outcome>> AddressNote::show(kube::Object local, std::string remote_name,
                                                                         std::vector<std::string> addresses) {
  const std::string name(local.name()), cluster = context_.forging.clusters.remote;
  auto all = core::reflection::RemoteAddresses::read(local.annotation(api::annotations::remote_addresses));
  const std::vector<std::string> had = all.of(cluster);
  all.set(cluster, addresses);
  const std::string digest = digest_of(all.of(cluster));
  if (!ns_->is_current()) co_return local.version_number();
  auto& notes = ns_->notes().addressed;
  // Most objects have never had an address.
  if (all.of(cluster).empty() && had.empty() && !notes.contains(name)) co_return local.version_number();
  ObjectNotes::Addressed& wanted = notes[name];
  // A right that is missing is missing for every address.
  if (wanted.is_refused)
    wanted.digest = digest;
  else if (wanted.digest != digest)
    wanted = {.digest = digest, .turn = wanted.turn};
  if (all.of(cluster) == had) co_return local.version_number();
  // All entries go with the NamespaceOffloading.
  if (context_.may_annotate && !context_.may_annotate(ns_->home().ns())) co_return local.version_number();
  if (const kube::Duration wait = take_turn(wanted, local.text().size()); wait > 0s)
    co_return end(remote_name, Outcome::again_after(wait));

  const std::string text = all.text();
  json::object annotations;
  annotations[api::annotations::remote_addresses] = text.empty() ? json::value(nullptr) : json::value(text);
  const json::object patch{{"metadata", json::object{{"uid", local.uid()},
                                                     {"resourceVersion", local.resource_version()},
                                                     {"annotations", std::move(annotations)}}}};
  auto written = co_await context_.home.api().patch(context_.kind.resource, local.key(),
                                                    {kube::PatchType::merge, json::serialize(patch)},
                                                    {.field_manager = api::reflection_manager});
  if (!written && written.error().is_conflict()) co_return end(remote_name, Outcome::again_after(conflict_pause));
  // The watch shows that it is gone.
  if (!written && written.error().is_not_found()) co_return local.version_number();
  if (!written && !written.error().is_permanent())
    co_return end(remote_name, Outcome::retry(std::move(written.error()).in("showing the addresses of a copy")));
  ObjectNotes::Addressed& note = ns_->notes().addressed[name];
  note.digest = digest;
  const kube::TimePoint now = context_.clock.now();
  const bool was_refused = std::exchange(note.is_refused, !written);
  const bool is_first = note.pause == 0s || was_refused || now - note.again > longest_pause;
  note.pause = is_first ? first_pause : std::min(2 * note.pause, longest_pause);
  if (!written) note.pause = longest_pause;
  note.again = now + note.pause;
  if (written) co_return written->version_number();
  if (!was_refused)
    context_.events.warning(
        local, context_.kind.resource, api::reasons::failed_reflection,
        std::move(written.error()).in("showing the addresses that cluster " + cluster + " gave to the copy").text());
  co_return end(remote_name, Outcome::again_after(note.pause));
}

}  // namespace liqo::controllers
