#include "controllers/reflection/status_gatherer.hpp"

#include <algorithm>

#include "controllers/common/pauses.hpp"
#include "core/common/digest.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

namespace json = kube::json;
using namespace std::chrono_literals;

/// A larger status stays at the provider, because the etcd at home would have to hold it.
constexpr std::size_t max_status = 256 << 10;
/// The pause after a refusal of the API server at home; the missing right may be granted meanwhile.
constexpr kube::Duration refused_pause = 5min;

}  // namespace

std::string gathered_digest(const kube::Object& local) {
  const json::value* status = local.tree().if_contains("status");
  std::string seen = std::to_string(kube::int_at(local.tree(), {"metadata", "generation"}));
  if (status) seen += json::serialize(*status);
  return core::digest_hex(seen);
}

asio::awaitable<std::expected<std::uint64_t, kube::Outcome>> StatusGatherer::bring_home(kube::Object local,
                                                                                        std::string remote_name,
                                                                                        json::value status) {
  const std::string name(local.name());
  const json::value* have = local.tree().if_contains("status");
  const bool is_there = status.is_null() ? !have : have && *have == status;
  if (is_there || (context_.brings_home && !context_.brings_home(ns_->home().ns()))) {
    ObjectNotes::Gathered& gathered = ns_->notes().gathered[name];
    gathered.digest = gathered_digest(local);
    gathered.at.reset();
    co_return local.version_number();
  }
  const std::size_t size = json::serialize(status).size();
  if (size > max_status) {
    kube::Failure failure(kube::Errc::invalid_input,
                          "the status of the copy in cluster " + context_.forging.clusters.remote +
                              " does not come home: it is larger than " + std::to_string(max_status >> 10) + " KiB");
    report_failed(local, failure);
    co_return std::unexpected(end_failed(remote_name, std::move(failure)));
  }
  if (!ns_->is_current()) co_return local.version_number();
  if (const kube::Duration wait = take_turn(name, std::max(size, local.text().size())); wait > 0s) {
    // Both are read again then.
    ns_->twin().copies().doubt(remote_name);
    co_return std::unexpected(kube::Outcome::again_after(wait));
  }
  kube::Object wanted = std::move(local);
  if (status.is_null())
    wanted.tree().erase("status");
  else
    wanted.tree()["status"] = std::move(status);
  const kube::WriteOptions options{.field_manager = api::reflection_manager, .subresource = "status"};
  auto written = co_await context_.home.api().replace(context_.kind.resource, wanted, options);
  if (!written) {
    kube::Failure failure =
        std::move(written.error()).in("bringing home the status of the copy in " + ns_->twin().ns());
    // The watch shows that an object is gone.
    if (failure.is_permanent() && !failure.is_not_found()) report_failed(wanted, failure);
    co_return std::unexpected(end_failed(remote_name, std::move(failure)));
  }
  ns_->look_soon();
  ObjectNotes::Gathered& gathered = ns_->notes().gathered[name];
  gathered.digest = gathered_digest(*written);
  gathered.at = context_.clock.now();
  co_return written->version_number();
}

kube::Duration StatusGatherer::take_turn(const std::string& name, std::size_t bytes) {
  if (!context_.home_write) return 0s;
  ObjectNotes::Gathered& gathered = ns_->notes().gathered[name];
  const kube::TimePoint now = context_.clock.now();
  if (!gathered.turn || bytes > gathered.turn_bytes) {
    gathered.turn = now + context_.home_write(bytes);
    gathered.turn_bytes = bytes;
  }
  if (now < *gathered.turn) return *gathered.turn - now;
  gathered.turn.reset();
  return 0s;
}

void StatusGatherer::report_failed(const kube::Object& local, const kube::Failure& failure) {
  ObjectNotes::Gathered& gathered = ns_->notes().gathered[std::string(local.name())];
  const kube::TimePoint now = context_.clock.now();
  // The provider chooses the words, so each failure may look new: the time since the last Event counts, not the text.
  if (gathered.reported_at && now - *gathered.reported_at < report_again_after) return;
  gathered.reported_at = now;
  context_.events.warning(local, context_.kind.resource, api::reasons::failed_reflection, failure.text());
}

kube::Outcome StatusGatherer::end_failed(const std::string& remote_name, kube::Failure failure) {
  ns_->twin().copies().doubt(remote_name);
  const bool is_refused = failure.is_permanent() || failure.code() == kube::Errc::invalid_input;
  return is_refused ? kube::Outcome::again_after(refused_pause) : kube::Outcome::retry(std::move(failure));
}

}  // namespace liqo::controllers
