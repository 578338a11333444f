#include "controllers/peering/replication_orders.hpp"

#include <utility>

#include "controllers/common/foreign_cluster_of.hpp"
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

std::string answer_digest(const kube::Object& slice) { return core::digest_hex(kube::json::serialize(slice.status())); }

}  // namespace

ReplicationOrders::ReplicationOrders(core::ReplicationPeer peer, kube::Api& provider,
                                     std::shared_ptr<ProviderOrders> orders, Context context, Reader reader)
    : peer_(std::move(peer)),
      context_(std::move(context)),
      reader_(std::move(reader)),
      provider_orders_(std::move(orders)),
      slices_(context_.home.acquire({.resource = api::kinds::resource_slices})),
      foreign_clusters_(acquire_foreign_clusters(context_.home)),
      orders_(provider_orders_, context_.clock, reader_.wake),
      silence_(peer_.remote, provider, provider_orders_, context_,
               {.answers = reader_.answers,
                .liqo_namespace = [this] { return declared_namespace(); },
                .standing = [this] { return standing_silence(); },
                .changed = [this](bool is_news) { report_silence(is_news); }}) {}

void ReplicationOrders::note_end(const kube::WorkKey& work, bool has_failed) {
  if (!has_failed) not_taken_.erase(work);
  // The others wait for longer and longer; a success of this one wakes them.
  if (!not_taken_.empty()) reader_.try_again(*not_taken_.begin(), try_pause);
}

void ReplicationOrders::note_taking(const kube::WorkKey& work, const kube::Failure* failure) {
  // A broken connection does not show what the server can do.
  if (failure && !failure->status()) return;
  if (failure && !failure->is_permanent() && failure->http_code() != 409) {
    not_taken_.insert(work);
  } else if (!not_taken_.empty()) {
    not_taken_.erase(work);
    provider_orders_->wake(context_.clock.now());
  }
}

void ReplicationOrders::note_outdated(const kube::WorkKey& work, const kube::Object& replica) {
  outdated_answers_.insert_or_assign(work, answer_digest(replica));
}

void ReplicationOrders::see(const kube::WorkKey& work, const std::optional<kube::Object>& local,
                            const std::optional<kube::Object>& remote) {
  if (work.group == api::kinds::resource_slices.plural)
    see_slice(work, local, remote);
  else if (work.group == api::kinds::namespace_maps.plural)
    see_map(work.object.name, local);
}

void ReplicationOrders::see_map(const std::string& map, const std::optional<kube::Object>& local) {
  std::set<std::string> wanted, mapped;
  if (local) {
    for (api::WantedNamespace& twin : api::NamespaceMap(*local).desired_mapping()) wanted.insert(std::move(twin.local));
    for (api::MappedNamespace& twin : api::NamespaceMap(*local).current_mapping()) mapped.insert(std::move(twin.local));
  }
  for (const std::string& ns : std::exchange(asked_[map], wanted))
    if (!wanted.contains(ns)) orders_.close(twin_order(ns), End::withdrawn);
  for (const std::string& ns : wanted) {
    if (mapped.contains(ns))
      orders_.close(twin_order(ns), End::acted);
    else
      orders_.open(twin_order(ns));
  }
  if (!local) asked_.erase(map);
}

void ReplicationOrders::see_slice(const kube::WorkKey& work, const std::optional<kube::Object>& local,
                                  const std::optional<kube::Object>& remote) {
  const std::string order = slice_order(work.object.name);
  // Slices of other classes wait for controllers that are not Liqo's.
  if (!local || !core::is_built_in_class(api::ResourceSlice(*local).slice_class()))
    return orders_.close(order, End::withdrawn);
  const auto& note = silence_.note();
  const bool is_silent = note && !note->words.empty();
  const core::Moment* since = orders_.since(order);
  bool is_outdated = false;
  if (const auto answer = outdated_answers_.find(work); answer != outdated_answers_.end()) {
    const bool is_same_again = since && !is_silent && context_.clock.now() - since->at >= same_answer_time;
    const bool is_over = !remote || is_same_again;
    is_outdated = !is_over && answer_digest(*remote) == answer->second && !is_as_asked(*remote);
    if (!is_outdated) outdated_answers_.erase(answer);
    if (is_over) return orders_.close(order, End::withdrawn);
  }
  if (is_answered(*local) && !is_outdated) return orders_.close(order, End::acted);
  if (is_outdated) reader_.try_again(work, same_answer_time);
  if (!since && is_silent)
    context_.events.warning(*local, api::kinds::resource_slices, core::provider_silent, note->words);
  orders_.open(order);
}

void ReplicationOrders::report_silence(bool is_news) {
  const auto& note = silence_.note();
  if (is_news)
    for (const kube::Object& slice : slices_->objects_in(peer_.local_namespace))
      if (orders_.since(slice_order(slice.name())))
        context_.events.warning(slice, api::kinds::resource_slices, core::provider_silent, note->words);
  reader_.changed();
}

core::SilenceNote ReplicationOrders::standing_silence() const {
  const auto peer = foreign_cluster_of(foreign_clusters_->store(), peer_.remote);
  return peer ? core::silence_note(*peer) : core::SilenceNote{};
}

std::string ReplicationOrders::declared_namespace() const {
  const auto peer = foreign_cluster_of(foreign_clusters_->store(), peer_.remote);
  std::string declared(peer ? peer->annotation(core::remote_liqo_namespace) : std::string_view());
  return core::is_dns_label(declared) ? declared : std::string();
}

}  // namespace liqo::controllers
