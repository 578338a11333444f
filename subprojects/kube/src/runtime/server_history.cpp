#include "kube/runtime/server_history.hpp"

#include "kube/telemetry/families.hpp"

namespace kube {
namespace {

/// How long an answer serves others who ask the same. A watch that is opened because of it has the same time again.
constexpr Duration shared_for = std::chrono::seconds(1);

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

std::optional<HistoryWitness> ServerHistory::choose(TimePoint alive, std::uint64_t version) const {
  const HistoryWitness* best = nullptr;
  for (const HistoryWitness* witness : witnesses_)
    if (witness->version >= version && witness->version != 0 && witness->since <= alive &&
        (!best || witness->version > best->version))
      best = witness;
  return best ? std::optional(*best) : std::nullopt;
}

asio::awaitable<Result<ServerHistory::Finding>> ServerHistory::ask(TimePoint alive, std::uint64_t version) {
  while (true) {
    auto witness = choose(alive, version);
    if (!witness) co_return Finding{};
    const bool is_fresh = answer_ && asked_version_ == witness->version &&
                          api_.clock().now() - (*answer_ ? (*answer_)->at : answered_) <= shared_for;
    if (is_fresh) co_return *answer_;
    if (!free_.is_set()) {
      co_await free_.wait();
      continue;
    }
    free_.reset();
    struct Freed {
      async::Event& event;
      ~Freed() { event.set(); }
    } const freed{free_};
    asked_version_ = witness->version;
    answer_.reset();
    auto found = co_await look(std::move(*witness));
    answer_ = found;
    answered_ = api_.clock().now();
    co_return found;
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
