#include "webhook/callers.hpp"

#include <algorithm>

#include "liqo/api/kinds.hpp"
#include "telemetry/families.hpp"

namespace liqo::webhook {
namespace {

using namespace std::chrono_literals;
namespace json = kube::json;

/// The longest that a request waits for its caller to be proven.
constexpr kube::Duration max_wait = 1s;
/// The pause between two probes, however often a caller that is no API server asks.
constexpr kube::Duration pause = 5s;
/// One address may wait with as many requests as an API server has under way by default, and all addresses together
/// with some fewer than there are connections (AdmissionServerSettings): the others are left for proven callers.
constexpr std::size_t max_waiting_of_one = 600, max_waiting = 768;
/// The parsed trees of these requests take a few times as much of the server's memory limit.
constexpr std::size_t max_waiting_bytes = 4U << 20;

}  // namespace

class Callers::Place {
 public:
  Place(Callers& callers, std::string address, std::size_t bytes)
      : callers_(callers),
        at_(callers.waiting_.try_emplace(std::move(address), callers.executor_).first),
        bytes_(bytes) {
    ++at_->second.requests;
    ++callers_.waiting_requests_;
    callers_.waiting_bytes_ += bytes_;
  }
  ~Place() {
    --callers_.waiting_requests_;
    callers_.waiting_bytes_ -= bytes_;
    if (--at_->second.requests == 0) callers_.waiting_.erase(at_);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  kube::async::Event& proven() { return at_->second.proven; }

 private:
  Callers& callers_;
  std::map<std::string, Waiting, std::less<>>::iterator at_;
  std::size_t bytes_;
};

Callers::Callers(const kube::Environment& environment, kube::Api& replica_api)
    : executor_(environment.executor),
      replica_api_(replica_api),
      clock_(environment.clock),
      log_("webhook"),
      wanted_(environment.executor) {
  kube::Metrics& metrics = environment.metrics;
  const auto asked = [&metrics](std::string_view caller) {
    return metrics.counter(families::admission_shadow_pods, {{"caller", std::string(caller)}});
  };
  asked_proven_ = asked("proven");
  asked_unproven_ = asked("unproven");
  not_awaited_ = metrics.counter(families::admission_not_awaited);
  const auto sent = [&metrics](std::string_view outcome) {
    return metrics.counter(families::admission_probes, {{"outcome", std::string(outcome)}});
  };
  probes_ = sent("answered");
  probes_failed_ = sent("lost");
  known_ = metrics.gauge(families::admission_proven);
}

asio::awaitable<void> Callers::run() {
  while (true) {
    co_await wanted_.wait_and_reset();
    co_await probe();
    co_await clock_.sleep(pause);
    // A request that came during the pause may still wait for a probe; otherwise the probe is not needed any more.
    if (waiting_.empty()) wanted_.reset();
  }
}

bool Callers::is_proven(const core::admission::Request& request) const {
  return request.caller.empty() || proven_.has(request.caller, clock_.now());
}

bool Callers::is_listed(const core::admission::Request& request) const {
  return std::ranges::find(api_servers_, request.caller) != api_servers_.end();
}

core::Claimant Callers::claimant_of(const core::admission::Request& request) {
  const bool proven = is_proven(request);
  (proven ? asked_proven_ : asked_unproven_).add();
  return {.address = request.caller, .proven = proven};
}

asio::awaitable<Callers::Finding> Callers::prove(const core::admission::Request& request) {
  if (proven_.has(request.caller, clock_.now())) co_return Finding::proven;
  wanted_.set();
  const auto waiting = waiting_.find(request.caller);
  if ((waiting != waiting_.end() && waiting->second.requests >= max_waiting_of_one) ||
      waiting_requests_ >= max_waiting || waiting_bytes_ + request.bytes > max_waiting_bytes) {
    not_awaited_.add();
    co_return Finding::unknown;
  }
  Place place(*this, request.caller, request.bytes);
  const bool proven = co_await place.proven().wait_for(clock_, max_wait);
  co_return proven ? Finding::proven : Finding::unproven;
}

void Callers::confirm(const std::string& address) { learn(address, "what it asked for was stored"); }

bool Callers::knows_all() const { return proven_.has_all(api_servers_, clock_.now()); }

void Callers::learn(std::string_view address, const char* how) {
  if (address.empty()) return;
  if (!proven_.has(address, clock_.now()))
    log_.info("an API server asks from this address", {{"address", address}, {"because", how}});
  proven_.prove(address, clock_.now());
  known_.set(static_cast<double>(proven_.size()));
  if (const auto found = waiting_.find(address); found != waiting_.end()) found->second.proven.set();
}

asio::awaitable<void> Callers::probe() {
  const auto answer =
      co_await replica_api_.create(api::kinds::foreign_clusters, core::admission::forge_probe(), {.dry_run = true});
  const std::string caller(answer ? core::admission::probed_address(*answer) : std::string_view());
  (caller.empty() ? probes_failed_ : probes_).add();
  if (!answer) log_.debug("a probe of the API server failed", {{"error", answer.error()}});
  learn(caller, "it says so");
  // Kubernetes lists the addresses of its API servers in the EndpointSlice of this one name.
  const auto listed = co_await replica_api_.get(api::kinds::endpoint_slices, {"default", "kubernetes"});
  api_servers_.clear();
  if (!listed) {
    log_.debug("the addresses of the API servers cannot be read", {{"error", listed.error()}});
    co_return;
  }
  for (const json::value& endpoint : kube::array_at(listed->tree(), {"endpoints"}))
    for (const json::value& address : kube::array_at(endpoint, {"addresses"}))
      if (address.is_string()) api_servers_.emplace_back(address.get_string());
}

}  // namespace liqo::webhook
