#include "quota/unrecorded_users.hpp"

#include "quota/shadow_pod_versions.hpp"

namespace liqo::quota {
namespace {

/// How often all ShadowPods are read again if records were removed meanwhile.
constexpr int max_lists = 3;

}  // namespace

asio::awaitable<kube::Result<void>> UnrecordedUsers::see() {
  // If a Quota and its record are gone, pods of its user may be stored that the cache has not seen yet.
  while (!is_known()) KUBE_CO_TRYV(co_await list());
  const std::uint64_t floor = context_.unrecorded.floor();
  if (co_await context_.stored.catch_up([floor] { return floor; })) co_return kube::Result<void>();
  // After its database was restored the server may not reach that version for a long time.
  context_.unrecorded.doubt();
  co_return kube::fail(kube::Errc::timeout, "the cache of ShadowPods is behind");
}

asio::awaitable<kube::Result<void>> UnrecordedUsers::list() {
  if (listing_ && listing_->is_open) {
    const std::shared_ptr<SharedRound> other = listing_;
    co_await other->over.wait();
    co_return other->result;
  }
  const auto round = std::make_shared<SharedRound>(context_.executor);
  const RoundUnderWay under_way(round);
  listing_ = round;
  bool is_read = false;
  for (int attempt = 0; attempt < max_lists && !is_known(); ++attempt) {
    const UnrecordedVersions::Listing listing = context_.unrecorded.begin_list(context_.records->lists());
    const auto newest = co_await newest_shadow_pod(context_.replica_api, "");
    if (!newest) {
      round->result = kube::fail(newest.error(), "reading the ShadowPods");
      co_return round->result;
    }
    if (context_.unrecorded.end_list(listing, *newest)) is_read = true;
  }
  round->result =
      is_read ? kube::Result<void>() : kube::fail(kube::Errc::timeout, "records went while the ShadowPods were read");
  co_return round->result;
}

}  // namespace liqo::quota
