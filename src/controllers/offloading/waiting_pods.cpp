#include "controllers/offloading/waiting_pods.hpp"

#include "controllers/scopes.hpp"
#include "kube/client/list_all.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/namespace_offloading.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;

/// Between two looks. A node that opens and closes all the time brings none forward.
constexpr kube::Duration pause = 15s;
constexpr kube::Duration quiet_time = 1min;
/// Pods whose affinity is read in one look.
constexpr std::size_t max_looked_at = 500;
constexpr std::size_t max_told = 10'000;

}  // namespace

WaitingPods::WaitingPods(Context context)
    : context_(context),
      nodes_(context_.home.acquire(scope_of_virtual_nodes())),
      offloadings_(context_.home.acquire({.resource = api::kinds::namespace_offloadings})),
      controller_(context_, {.name = "waiting_pods", .ready = [this] { return has_synced(); }},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  nodes_.subscribe([this](const kube::Change& node) { see_node(node); }, [this] { look_soon(); });
  offloadings_.subscribe([](const kube::ObjectKey&) {}, [this] { look_soon(); });
}

void WaitingPods::look_soon() { controller_.enqueue({.object = {"", "all"}}); }

void WaitingPods::see_node(const kube::Change& node) {
  if (node.changes(core::closed_word_of)) look_soon();
}

std::vector<kube::Object> WaitingPods::nodes_if_closed() const {
  std::vector<kube::Object> nodes;
  bool has_closed = false;
  for (const kube::Object& node : nodes_->objects()) {
    has_closed = has_closed || !core::closed_word_of(node).empty();
    nodes.push_back(node);
  }
  if (!has_closed) nodes.clear();
  return nodes;
}

std::set<std::string, std::less<>> WaitingPods::due_namespaces() {
  const kube::TimePoint now = context_.clock.now();
  std::erase_if(quiet_until_, [now](const auto& entry) { return entry.second <= now; });
  std::set<std::string, std::less<>> due;
  for (const kube::Object& offloading : offloadings_->objects()) {
    const api::NamespaceOffloading view(offloading);
    if (view.has_right_name() && view.pod_strategy() != api::PodOffloadingStrategy::local &&
        !quiet_until_.contains(offloading.ns()))
      due.emplace(offloading.ns());
  }
  return due;
}

asio::awaitable<kube::Result<std::vector<WaitingPods::Waiting>>> WaitingPods::find_waiting(
    std::vector<kube::Object> nodes) {
  std::vector<Waiting> found;
  std::set<std::string, std::less<>> due = due_namespaces();
  if (due.empty()) co_return found;
  const std::string after = looked_up_to_;
  std::size_t looked_at = 0;
  looked_up_to_.clear();
  const auto listed = co_await kube::list_all(
      context_.home.api(), {.resource = kube::resources::pods, .ns = {}},
      {.selection = {.field_selector = "spec.nodeName=,status.phase=Pending"}}, [&](kube::Object pod) {
        if (pod.key().text() <= after || !due.contains(pod.ns()) || told_.contains(pod.uid())) return true;
        if (++looked_at > max_looked_at) return false;
        looked_up_to_ = pod.key().text();
        auto node = core::awaited_node(pod, nodes);
        if (!node) return true;
        due.erase(due.find(pod.ns()));
        found.push_back({.pod = std::move(pod), .node = std::move(*node)});
        return !due.empty();
      });
  if (!listed) co_return kube::fail(listed.error(), "looking for pods that wait for a closed node");
  // All were looked at: the next look begins anew.
  if (looked_at <= max_looked_at) looked_up_to_.clear();
  co_return found;
}

void WaitingPods::tell(const Waiting& waiting) {
  if (told_.size() >= max_told) told_.clear();
  told_.emplace(waiting.pod.uid());
  quiet_until_[std::string(waiting.pod.ns())] = context_.clock.now() + quiet_time;
  context_.events.warning(waiting.pod, kube::resources::pods, "VirtualNodeClosed", core::closed_in_words(waiting.node));
}

asio::awaitable<Outcome> WaitingPods::reconcile(kube::WorkKey) {
  const kube::TimePoint now = context_.clock.now();
  std::vector<kube::Object> nodes = nodes_if_closed();
  if (nodes.empty()) {
    told_.clear();
    looked_up_to_.clear();
    co_return Outcome::done();
  }
  if (now < next_look_) co_return Outcome::again_after(next_look_ - now);
  next_look_ = now + pause;
  const auto found = co_await find_waiting(std::move(nodes));
  if (!found) co_return Outcome::retry(found.error());
  for (const Waiting& waiting : *found) tell(waiting);
  co_return Outcome::again_after(pause);
}

}  // namespace liqo::controllers
