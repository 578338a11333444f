// Tracks the orders of replication that wait for the provider, and reports if it does not act on them.
#include "controllers/common/foreign_cluster_of.hpp"
#include "controllers/peering/replication_session.hpp"
#include "core/common/digest.hpp"
#include "core/common/names.hpp"
#include "core/slices/request.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/namespace_map.hpp"
#include "liqo/api/resource_slice.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using End = core::OpenOrders::End;

/// A reachable provider that has not changed its answer for this time will answer the same again.
constexpr kube::Duration same_answer_time = 5min;
/// How often one object is tried when the provider's API server can take none.
constexpr kube::Duration try_pause = 5s;

std::string slice_order(std::string_view name) { return "slice " + std::string(name); }
std::string twin_order(std::string_view ns) { return "twin " + std::string(ns); }

/// Whether the answer gives what is asked for now: it need not change.
bool is_as_asked(const kube::Object& slice) {
  const api::ResourceSlice view(slice);
  return view.requested() == view.granted();
}

bool is_answered(const kube::Object& slice) {
  const api::ResourceSlice view(slice);
  return view.condition(api::slice_conditions::authentication) || view.condition(api::slice_conditions::resources);
}

}  // namespace

std::string answer_digest(const kube::Object& slice) { return core::digest_hex(kube::json::serialize(slice.status())); }

asio::awaitable<kube::Outcome> ReplicationSession::work_on(kube::WorkKey work) {
  kube::Outcome outcome = co_await reconcile(work);
  see_orders(work);
  if (!outcome.failure()) not_taken_.erase(work);
  // The others wait for longer and longer; a success of this one wakes them.
  if (!not_taken_.empty()) controller_.enqueue_after(*not_taken_.begin(), try_pause);
  co_return std::move(outcome);
}

void ReplicationSession::note_taking(const kube::WorkKey& work, const kube::Failure* failure) {
  // A broken connection does not show what the server can do.
  if (failure && !failure->status()) return;
  if (failure && !failure->is_permanent() && failure->http_code() != 409) {
    not_taken_.insert(work);
  } else if (!not_taken_.empty()) {
    not_taken_.erase(work);
    budget_->orders->wake(context_.clock.now());
  }
}

void ReplicationSession::see_orders(const kube::WorkKey& work) {
  const Kind& kind = kind_of(work);
  auto local = kind.home->find(work.object);
  // Providers that have taken our rights away, or are gone for good, are not asked.
  if (local && (local->is_deleting() || probe_.is_withdrawn() == true || peer_lost_ || !core::is_for_peer(*local, peer_) ||
                !core::is_ready_to_replicate(kind.resource, *local)))
    local.reset();
  if (kind.resource == api::kinds::resource_slices) {
    see_slice(work, local);
  } else if (kind.resource == api::kinds::namespace_maps) {
    std::set<std::string> wanted, mapped;
    if (local) {
      for (api::WantedNamespace& twin : api::NamespaceMap(*local).desired_mapping())
        wanted.insert(std::move(twin.local));
      for (api::MappedNamespace& twin : api::NamespaceMap(*local).current_mapping())
        mapped.insert(std::move(twin.local));
    }
    for (const std::string& ns : std::exchange(asked_[work.object.name], wanted))
      if (!wanted.contains(ns)) orders_.close(twin_order(ns), End::withdrawn);
    for (const std::string& ns : wanted) {
      if (mapped.contains(ns))
        orders_.close(twin_order(ns), End::acted);
      else
        orders_.open(twin_order(ns));
    }
    if (!local) asked_.erase(work.object.name);
  }
}

void ReplicationSession::see_slice(const kube::WorkKey& work, const std::optional<kube::Object>& local) {
  const std::string order = slice_order(work.object.name);
  // Slices of other classes wait for controllers that are not Liqo's.
  if (!local || !core::is_built_in_class(api::ResourceSlice(*local).slice_class()))
    return orders_.close(order, End::withdrawn);
  const auto& note = silence_.note();
  const bool is_silent = note && !note->words.empty();
  const core::Moment* since = orders_.since(order);
  bool is_outdated = false;
  if (const auto known = memory_.find(work); known != memory_.end() && known->second.outdated_answer) {
    auto& answer = known->second.outdated_answer;
    const auto remote = kind_of(work).provider->find({peer_.remote_namespace, work.object.name});
    const bool is_same_again = since && !is_silent && context_.clock.now() - since->at >= same_answer_time;
    const bool is_over = !remote || is_same_again;
    if (is_over || answer_digest(*remote) != *answer || is_as_asked(*remote)) answer.reset();
    if (is_over) return orders_.close(order, End::withdrawn);
    is_outdated = answer.has_value();
  }
  if (is_answered(*local) && !is_outdated) return orders_.close(order, End::acted);
  if (is_outdated) controller_.enqueue_after(work, same_answer_time);
  if (!since && is_silent)
    context_.events.warning(*local, api::kinds::resource_slices, core::provider_silent, note->words);
  orders_.open(order);
}

void ReplicationSession::report_silence(bool is_news) {
  const auto& note = silence_.note();
  if (is_news)
    for (const Kind& kind : kinds_) {
      if (kind.resource != api::kinds::resource_slices) continue;
      for (const kube::Object& slice : kind.home->objects_in(peer_.local_namespace))
        if (orders_.since(slice_order(slice.name())))
          context_.events.warning(slice, kind.resource, core::provider_silent, note->words);
    }
  notify();
}

core::SilenceNote ReplicationSession::standing_silence() const {
  const auto peer = foreign_cluster_of(foreign_clusters_->store(), peer_.remote);
  return peer ? core::silence_note(*peer) : core::SilenceNote{};
}

std::string ReplicationSession::declared_namespace() const {
  const auto peer = foreign_cluster_of(foreign_clusters_->store(), peer_.remote);
  std::string declared(peer ? peer->annotation(core::remote_liqo_namespace) : std::string_view());
  return core::is_dns_label(declared) ? declared : std::string();
}

}  // namespace liqo::controllers
