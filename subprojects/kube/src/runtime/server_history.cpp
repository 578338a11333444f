#include "kube/runtime/server_history.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "kube/telemetry/families.hpp"

namespace kube {
namespace {

/// How long an answer serves others who ask the same. A watch that is opened because of it has the same time again.
constexpr Duration shared_for = std::chrono::seconds(1);

/// What an API server itself serves, all out of one etcd: only Events are often kept in another one
/// (--etcd-servers-overrides). Not here: metrics.k8s.io and others that are served by aggregated API servers.
constexpr std::array<std::string_view, 20> built_in_groups{"",
                                                           "admissionregistration.k8s.io",
                                                           "apiextensions.k8s.io",
                                                           "apiregistration.k8s.io",
                                                           "apps",
                                                           "authentication.k8s.io",
                                                           "authorization.k8s.io",
                                                           "autoscaling",
                                                           "batch",
                                                           "certificates.k8s.io",
                                                           "coordination.k8s.io",
                                                           "discovery.k8s.io",
                                                           "flowcontrol.apiserver.k8s.io",
                                                           "networking.k8s.io",
                                                           "node.k8s.io",
                                                           "policy",
                                                           "rbac.authorization.k8s.io",
                                                           "resource.k8s.io",
                                                           "scheduling.k8s.io",
                                                           "storage.k8s.io"};

/// Whether both are one collection: its versions are one order.
bool is_same(const Resource& one, const Resource& other) {
  return one.group == other.group && one.plural == other.plural;
}

/// A version alone does not name a witness: those of two histories may have the same.
std::string name_of(const HistoryWitness& witness) {
  return std::string(witness.resource->plural) + "." + std::string(witness.resource->group) + " " +
         std::to_string(witness.version);
}

}  // namespace

ServerHistory::ServerHistory(const asio::any_io_executor& executor, Api& api, Metrics& metrics)
    : api_(api), free_(executor) {
  free_.set();
  const auto counter = [&](const char* verdict) {
    return metrics.counter(families::history_checks, {{"cluster", api.cluster()}, {"verdict", verdict}});
  };
  same_ = counter("same");
  gone_back_ = counter("gone_back");
  unknown_ = counter("unknown");
}

bool ServerHistory::is_shared(const Resource& resource) const {
  if (shared_.contains(resource.group)) return true;
  const bool is_built_in = std::ranges::find(built_in_groups, resource.group) != built_in_groups.end();
  return is_built_in && !is_same(resource, resources::events);
}

std::optional<HistoryWitness> ServerHistory::choose(const Resource& of, TimePoint alive, std::uint64_t version) const {
  const bool shares = is_shared(of);
  const HistoryWitness* best = nullptr;
  for (const HistoryWitness* witness : witnesses_) {
    const bool may_speak = is_same(*witness->resource, of) || (shares && is_shared(*witness->resource));
    if (may_speak && witness->version >= version && witness->version != 0 && witness->since <= alive &&
        (!best || witness->version > best->version))
      best = witness;
  }
  return best ? std::optional(*best) : std::nullopt;
}

asio::awaitable<Result<ServerHistory::Finding>> ServerHistory::ask(const Resource& of, TimePoint alive,
                                                                   std::uint64_t version) {
  while (true) {
    auto witness = choose(of, alive, version);
    if (!witness) co_return Finding{};
    const auto told = [is_own = is_same(*witness->resource, of)](Result<Finding> answer) {
      if (answer) answer->is_own = is_own;
      return answer;
    };
    std::string asked = name_of(*witness);
    const bool is_fresh =
        answer_ && asked_ == asked && api_.clock().now() - (*answer_ ? (*answer_)->at : answered_) <= shared_for;
    if (is_fresh) co_return told(*answer_);
    if (!free_.is_set()) {
      co_await free_.wait();
      continue;
    }
    free_.reset();
    struct Freed {
      async::Event& event;
      ~Freed() { event.set(); }
    } const freed{free_};
    asked_ = std::move(asked);
    answer_.reset();
    auto found = co_await look(std::move(*witness));
    answer_ = found;
    answered_ = api_.clock().now();
    co_return told(std::move(found));
  }
}

asio::awaitable<Result<ServerHistory::Finding>> ServerHistory::look(HistoryWitness witness) {
  Finding finding{.verdict = Verdict::unknown, .version = witness.version, .at = api_.clock().now()};
  auto shown = co_await api_.get(*witness.resource, witness.key);
  // A witness that is gone, or that this process may not read, is an answer, too.
  const bool is_answer = shown || shown.error().is_not_found() || shown.error().is_forbidden();
  if (!is_answer) co_return std::unexpected(std::move(shown.error()));
  if (shown && shown->uid() == witness.uid) {
    const std::uint64_t now = shown->version_number();
    if (now == witness.version) finding.verdict = Verdict::same;
    if (now != 0 && now < witness.version) finding.verdict = Verdict::gone_back;
  }
  switch (finding.verdict) {
    case Verdict::same:
      same_.add();
      break;
    case Verdict::gone_back:
      gone_back_.add();
      break;
    case Verdict::unknown:
      unknown_.add();
      break;
  }
  co_return finding;
}

}  // namespace kube
