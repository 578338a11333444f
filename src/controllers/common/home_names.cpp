#include "controllers/common/home_names.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "core/common/home_names.hpp"
#include "core/namespaces/belonging.hpp"
#include "kube/async/event.hpp"
#include "kube/async/timeout.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "telemetry/families.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;

/// How long an answer is waited for, and the pause between two looks.
constexpr kube::Duration patience = 3s, pause = 10s;

}  // namespace

HomeNames::HomeNames(Context context)
    : context_(std::move(context)),
      look_up_(context_.settings.namespaces.look_up_name),
      resolve_(context_.metrics.gauge(families::home_names)),
      namespaces_(context_.home.acquire({.resource = kube::resources::namespaces})),
      slices_(context_.home.acquire({.resource = api::kinds::resource_slices})) {
  namespaces_.follow([this](const kube::Change& ns) { see(ns); });
  slices_.follow([this](const kube::Change& slice) { see_slice(slice); });
}

asio::awaitable<void> HomeNames::run() {
  if (!look_up_) {
    kube::async::Event never(context_.executor);
    co_await never.wait();
  }
  while (true) {
    co_await look();
    co_await context_.clock.sleep(pause);
  }
}

asio::awaitable<void> HomeNames::look() {
  const auto before = judge_.are_on();
  const core::NameLook probe = co_await look_at(std::string(core::home_probe));
  core::NameLook absence = core::NameLook::nothing;
  if (probe == core::NameLook::found) absence = co_await look_at(std::string(core::home_absence));
  judge_.observe(probe, absence);
  looks_ = std::min(looks_ + 1, first_looks);
  const auto now = judge_.are_on();
  resolve_.set(now == true ? 1 : 0);
  if (before == now) co_return;
  if (now == true) log_shared();
  if (now == true)
    log_.info("pods of consumers look up the names of their home from now on", {{"name", core::home_probe}});
  else if (before)
    log_.warn("pods of consumers look up the names of their home no longer: the name server does not know them",
              {{"name", core::home_probe}});
  notify();
}

asio::awaitable<core::NameLook> HomeNames::look_at(std::string name) {
  auto seen = co_await kube::async::with_timeout(context_.clock, look_up_(std::move(name)), patience);
  co_return seen.value_or(core::NameLook::nothing);
}

void HomeNames::see(const kube::Change& ns) {
  const bool is_peer = ns.now && core::is_tenant_namespace(*ns.now);
  const std::string peer(is_peer ? ns.now->label(api::labels::remote_cluster_id) : "");
  const bool leads_elsewhere = see_twin(ns);
  const bool changes = is_peer ? std::exchange(peers_[ns.key.name], peer) != peer : peers_.erase(ns.key.name) > 0;
  if ((!changes && !leads_elsewhere) || judge_.are_on() != true) return;
  log_shared();
  notify();
}

void HomeNames::see_slice(const kube::Change& slice) {
  if (slice.now && slice.now->label(api::labels::replicated) == "true" &&
      core::knows_names_of_home(kube::object_at(slice.now->status(), {"nodeLabels"})))
    told_.insert(slice.key);
  else
    told_.erase(slice.key);
}

bool HomeNames::see_twin(const kube::Change& ns) {
  const std::string& name = ns.key.name;
  const std::string owner(ns.now ? core::consumer_of_twin(*ns.now) : "");
  const auto known = twins_.find(name);
  const std::string before = known == twins_.end() ? "" : known->second;
  if (owner == before) return false;
  if (owner.empty())
    twins_.erase(known);
  else
    twins_[name] = owner;
  bool changes = false;
  for (auto& [id, leads] : leads_) {
    const bool is_of_another = (!owner.empty() && owner != id) || (!before.empty() && before != id);
    if (!is_of_another || !name.ends_with("-" + id)) continue;
    const bool led = std::exchange(leads, has_twin_of(id));
    changes = changes || led != leads;
  }
  return changes;
}

bool HomeNames::has_twin_of(const std::string& consumer) const {
  return std::ranges::any_of(twins_, [end = "-" + consumer, &consumer](const auto& twin) {
    return twin.second != consumer && twin.first.ends_with(end);
  });
}

bool HomeNames::leads_to_others(const std::string& consumer) const {
  const auto [entry, is_new] = leads_.try_emplace(consumer, false);
  if (is_new) entry->second = has_twin_of(consumer);
  return entry->second;
}

void HomeNames::log_shared() const {
  const std::vector<std::string> ids = consumers();
  for (const std::string& id : ids)
    if (core::shares_twin_names(id, ids))
      log_.warn("pods of a consumer do not look up the names of their home: the ID of another consumer ends in its own",
                {{"cluster", id}});
    else if (leads_to_others(id))
      log_.warn("pods of a consumer do not look up the names of their home: another consumer's twin ends in its ID",
                {{"cluster", id}});
}

void HomeNames::notify() {
  for (const auto& reader : readers_) reader();
}

std::vector<std::string> HomeNames::consumers() const {
  std::vector<std::string> ids;
  ids.reserve(peers_.size());
  for (const std::string& peer : peers_ | std::views::values) ids.push_back(peer);
  return ids;
}

std::optional<bool> HomeNames::are_on_for(std::string_view consumer) const {
  if (!look_up_) return false;
  if (judge_.are_on() != true) return judge_.are_on();
  return !consumer.empty() && !core::shares_twin_names(consumer, consumers()) &&
         !leads_to_others(std::string(consumer));
}

std::string HomeNames::consumer_in(const std::string& twin) const {
  if (judge_.are_on() != true) return {};
  const auto ns = namespaces_->find({"", twin});
  if (!ns) return {};
  const std::string consumer(core::consumer_of_twin(*ns));
  const std::string_view original = ns->annotation(api::annotations::original_name);
  if (original.empty() || original == twin || are_on_for(consumer) != true) return {};
  return consumer;
}

std::string HomeNames::words_about(const std::string& consumer, const std::string& local,
                                   const std::string& remote) const {
  if (judge_.are_on() != true || local == remote || !namespaces_->store().contains({"", local})) return {};
  if (are_on_for(consumer) != true || remote != core::default_twin_name(local, consumer)) return {};
  const auto ns = namespaces_->find({"", local});
  if (!ns || core::consumer_of_twin(*ns) == consumer) return {};
  return core::names_found_first(local, context_.settings.cluster_id);
}

}  // namespace liqo::controllers
