// What comes home of copies.
#include "liqo/api/labels.hpp"
#include "liqo/core/mapping/names.hpp"
#include "reflector_parts.hpp"

namespace liqo::reflector {
namespace {

namespace json = kube::json;
using namespace std::chrono_literals;

/// A larger status stays at the provider: people read it, and etcd at home has to hold it.
constexpr std::size_t max_status = 256 << 10;
/// What the API server at home refuses is tried again so late: a right may have been given meanwhile.
constexpr kube::Duration refused_pause = 5min;

}  // namespace

std::string gathered_digest(const kube::Object& local) {
  const json::value* status = local.tree().if_contains("status");
  return status ? core::digest_hex(json::serialize(*status)) : std::string();
}

asio::awaitable<kube::Result<std::uint64_t>> Reflector::gather(Shared ns, kube::Object local, kube::Object remote) {
  const std::string name(local.name());
  json::value status = kind_.gather(local, remote);
  const json::value* have = local.tree().if_contains("status");
  if (status.is_null() || (have && *have == status)) {
    ns->gathered[name] = {.digest = gathered_digest(local), .at = {}};
    co_return version_of(local);
  }
  if (const std::size_t size = json::serialize(status).size(); size > max_status) {
    const kube::Failure failure(kube::Errc::invalid_input,
                                "The status of the copy in cluster " + forging_.clusters.remote +
                                    " does not come home: it has " + std::to_string(size >> 10) + " KiB, and " +
                                    std::to_string(max_status >> 10) + " are let in");
    context_.events.warning(local, kind_.resource, api::reasons::failed_reflection, failure.text());
    co_return std::unexpected(failure);
  }
  if (context_.home_write) co_await context_.home_write();
  if (!is_current(*ns)) co_return version_of(local);
  kube::Object wanted = local;
  wanted.tree()["status"] = std::move(status);
  const kube::WriteOptions options{.field_manager = api::reflection_manager, .subresource = "status"};
  auto written = co_await context_.home.api().replace(kind_.resource, wanted, options);
  // It has gone meanwhile, of which its watch tells.
  if (!written && written.error().is_not_found()) co_return version_of(local);
  if (!written) {
    kube::Failure failure = std::move(written.error()).in("bringing home the status of the copy in " + ns->remote);
    if (failure.is_permanent())
      context_.events.warning(local, kind_.resource, api::reasons::failed_reflection, failure.text());
    co_return std::unexpected(std::move(failure));
  }
  look_soon(*ns);
  ns->gathered[name] = {.digest = gathered_digest(*written), .at = context_.clock.now()};
  co_return version_of(*written);
}

kube::Outcome Reflector::not_gathered(Namespace& ns, const std::string& remote_name, kube::Failure failure) {
  ns.copies.doubt(remote_name);
  const bool is_refused = failure.is_permanent() || failure.code() == kube::Errc::invalid_input;
  return is_refused ? kube::Outcome::again_after(refused_pause) : kube::Outcome::retry(std::move(failure));
}

}  // namespace liqo::reflector
