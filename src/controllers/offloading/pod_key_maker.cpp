#include "controllers/offloading/pod_key_maker.hpp"

#include <chrono>
#include <utility>

#include "core/peering/csr.hpp"

namespace liqo::controllers {
namespace {

/// Keys that may wait for their pods.
constexpr std::size_t max_ready = 64;

kube::Result<PodKey> make_now(std::string_view type, const core::Entropy& entropy) {
  KUBE_TRY(key, core::PrivateKey::make_for_pod(type, entropy));
  KUBE_TRY(request, core::make_empty_request(key));
  return PodKey{.pem = key.pem(), .request = std::move(request)};
}

}  // namespace

std::optional<kube::Result<PodKey>> PodKeyMaker::make(const std::string& whom, std::string_view type) {
  if (!type.starts_with("RSA")) return make_now(type, entropy_);
  if (making_.valid() && making_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
    // Keys for which nobody comes are dropped some time: their pods are gone.
    if (ready_.size() >= max_ready) ready_.clear();
    ready_.insert_or_assign(whom_, making_.get());
  }
  if (auto mine = ready_.extract(whom)) return std::move(mine.mapped());
  if (making_.valid()) return std::nullopt;
  whom_ = whom;
  making_ = std::async(std::launch::async, [name = std::string(type)] { return make_now(name, {}); });
  return std::nullopt;
}

}  // namespace liqo::controllers
