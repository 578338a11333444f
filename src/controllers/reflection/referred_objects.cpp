#include "controllers/reflection/referred_objects.hpp"

#include <algorithm>
#include <iterator>

namespace liqo::controllers {
namespace {

/// The pause between two looks at a copy while it is not known which pods refer to it.
constexpr kube::Duration unknown_pause = std::chrono::seconds(30);

}  // namespace

bool ReferredObjects::takes_all() const {
  using core::reflection::SelectionPolicy;
  return context_.kind.referred_only &&
         (context_.policy == SelectionPolicy::all || (context_.policy == SelectionPolicy::deny_list && all_wanted_));
}

bool ReferredObjects::contains(const std::string& name) const {
  const auto found = referred_.find(name);
  return found != referred_.end() && (!found->second || *found->second > context_.clock.now());
}

std::vector<std::string> ReferredObjects::names() const {
  std::vector<std::string> out;
  out.reserve(referred_.size());
  for (const auto& [name, until] : referred_) out.push_back(name);
  return out;
}

std::optional<kube::Duration> ReferredObjects::grace_left(const std::string& name) const {
  const auto found = referred_.find(name);
  if (found == referred_.end() || !found->second || *found->second <= context_.clock.now()) return std::nullopt;
  return *found->second - context_.clock.now();
}

bool ReferredObjects::add(const std::string& name) {
  const auto [at, added] = referred_.try_emplace(name);
  return added || std::exchange(at->second, std::nullopt).has_value();
}

std::vector<std::string> ReferredObjects::leave(const std::set<std::string>& names) {
  std::vector<std::string> left;
  for (auto& [name, until] : referred_) {
    if (until || names.contains(name)) continue;
    until = context_.clock.now() + grace;
    left.push_back(name);
  }
  return left;
}

std::vector<std::string> ReferredObjects::name_by_pods(std::set<std::string> names) {
  std::vector<std::string> changed;
  std::ranges::set_symmetric_difference(named_, names, std::back_inserter(changed));
  named_ = std::move(names);
  return changed;
}

std::optional<kube::Duration> ReferredObjects::stays_unknown() const {
  if (!context_.references_known || context_.references_known()) return std::nullopt;
  return unknown_pause;
}

void ReferredObjects::keep(std::string name) { kept_[std::move(name)] = context_.clock.now() + grace; }

std::optional<kube::Duration> ReferredObjects::stays_for(const std::string& name) const {
  if (const auto pause = stays_unknown()) return pause;
  const auto found = kept_.find(name);
  if (found == kept_.end() || found->second <= context_.clock.now()) return std::nullopt;
  return found->second - context_.clock.now();
}

}  // namespace liqo::controllers
