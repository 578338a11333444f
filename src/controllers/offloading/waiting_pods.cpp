#include "controllers/offloading/waiting_pods.hpp"

#include <algorithm>

#include "controllers/common/scopes.hpp"
#include "kube/client/api.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/namespace_offloading.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;

/// The pause between two looks. A node that opens and closes all the time does not shorten it.
constexpr kube::Duration pause = 15s;
constexpr kube::Duration quiet_time = 1min;
/// An API server forgets an Event within an hour, and one may be dropped when many are sent.
constexpr kube::Duration time_reported = 30min;
/// Pages of one look, and pods in each: other work on this thread goes on between two pages.
constexpr std::size_t max_pages = 10;
constexpr std::int64_t page_size = 50;
constexpr std::size_t max_reported = 10'000;

std::string report_key(const kube::Object& pod, const core::ClosedNode& node) {
  return std::string(pod.uid()) + "/" + node.why;
}

}  // namespace

WaitingPods::WaitingPods(Context context)
    : context_(context),
      nodes_(context_.home.acquire(scope_of_virtual_nodes())),
      offloadings_(context_.home.acquire({.resource = api::kinds::namespace_offloadings})),
      controller_(context_, {.name = "waiting_pods"}, [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  const auto synced = [this] { look_soon(); };
  controller_.watch(nodes_, [this](const kube::Change& node) { see_node(node); }, synced);
  controller_.watch(offloadings_, [](const kube::ObjectKey&) {}, synced);
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

std::vector<std::string> WaitingPods::due_namespaces() const {
  std::vector<std::string> due;
  for (const kube::Object& offloading : offloadings_->objects()) {
    const api::NamespaceOffloading view(offloading);
    if (view.has_right_name() && view.pod_strategy() != api::PodOffloadingStrategy::local &&
        !quiet_until_.contains(offloading.ns()))
      due.emplace_back(offloading.ns());
  }
  std::ranges::sort(due);
  std::ranges::rotate(due, std::ranges::lower_bound(due, position_.ns));
  return due;
}

std::optional<core::ClosedNode> WaitingPods::unreported_node(const kube::Object& pod,
                                                             const std::vector<kube::Object>& nodes) const {
  auto node = core::awaited_node(pod, nodes);
  if (node && reported_until_.contains(report_key(pod, *node))) node.reset();
  return node;
}

asio::awaitable<kube::Result<void>> WaitingPods::find_waiting_here(Search& search) {
  const std::string ns = position_.ns;
  std::string page = std::move(position_.page);
  do {
    if (search.pages == max_pages) {
      position_ = {.ns = ns, .page = page};
      co_return kube::Result<void>();
    }
    ++search.pages;
    // No name of a namespace lies between this and `ns`: if `ns` cannot be listed, the next look begins after it.
    position_ = {.ns = ns + " ", .page = ""};
    bool is_found = false;
    const auto listed =
        co_await context_.home.api().list_each(kube::resources::pods, ns,
                                               {.selection = {.field_selector = "spec.nodeName=,status.phase=Pending"},
                                                .limit = page_size,
                                                .continue_token = page},
                                               [&](kube::wire::ListItem item) {
                                                 if (item.too_deep) return true;
                                                 auto pod = kube::Object::from(std::move(item.tree));
                                                 if (!pod || !unreported_node(*pod, search.nodes)) return true;
                                                 search.found.push_back(pod->key());
                                                 is_found = true;
                                                 return false;
                                               });
    if (!listed && listed.error().is_expired()) co_return kube::Result<void>();
    if (!listed) co_return kube::fail(listed.error(), "looking for pods that wait for a closed node");
    if (is_found) co_return kube::Result<void>();
    page = listed->continue_token;
  } while (!page.empty());
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> WaitingPods::find_waiting(Search& search) {
  for (const std::string& ns : due_namespaces()) {
    if (position_.ns != ns) position_ = {.ns = ns, .page = ""};
    KUBE_CO_TRYV(co_await find_waiting_here(search));
    // The next look continues in the middle of this namespace.
    if (position_.ns == ns) co_return kube::Result<void>();
  }
  position_ = {};
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> WaitingPods::report(Search& search) {
  for (const kube::ObjectKey& key : search.found) {
    const auto pod = co_await context_.home.api().get(kube::resources::pods, key);
    if (!pod && pod.error().is_not_found()) continue;
    if (!pod) co_return kube::fail(pod.error(), "looking at a pod that waits for a closed node");
    const auto node = unreported_node(*pod, search.nodes);
    if (!node) continue;
    const kube::TimePoint now = context_.clock.now();
    if (reported_until_.size() >= max_reported) reported_until_.clear();
    reported_until_[report_key(*pod, *node)] = now + time_reported;
    quiet_until_[key.ns] = now + quiet_time;
    context_.events.warning(*pod, kube::resources::pods, "VirtualNodeClosed", core::closed_in_words(*node));
  }
  co_return kube::Result<void>();
}

asio::awaitable<Outcome> WaitingPods::reconcile(kube::WorkKey) {
  const kube::TimePoint now = context_.clock.now();
  Search search{.nodes = nodes_if_closed(), .found = {}};
  if (search.nodes.empty()) {
    reported_until_.clear();
    position_ = {};
    co_return Outcome::done();
  }
  if (now < next_look_) co_return Outcome::again_after(next_look_ - now);
  next_look_ = now + pause;
  const auto is_over = [now](const auto& entry) { return entry.second <= now; };
  std::erase_if(quiet_until_, is_over);
  std::erase_if(reported_until_, is_over);
  const auto looked = co_await find_waiting(search);
  const auto reported = co_await report(search);
  if (!looked) co_return Outcome::retry(looked.error());
  if (!reported) co_return Outcome::retry(reported.error());
  co_return Outcome::again_after(pause);
}

}  // namespace liqo::controllers
