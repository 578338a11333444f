#include "core/peering/missing_twins.hpp"

#include <algorithm>
#include <utility>

namespace liqo::core {

void MissingTwins::observe(const kube::Object& local, const kube::Object& remote, kube::TimePoint now) {
  const auto before = std::exchange(missing_, {});
  for (api::WantedNamespace& wanted : api::NamespaceMap(local).desired_mapping()) {
    const auto shown = [&](std::string_view field) {
      return kube::string_at(local.status(), {"currentMapping", wanted.local, field});
    };
    // A twin that is going is created again for pods that have not begun.
    if (shown("remoteNamespace") != wanted.remote || shown("phase") == "Terminating") continue;
    // A provider that was restored may first make it by what it remembers, and then delete it.
    const kube::json::value* there = kube::find(remote.status(), {"currentMapping", wanted.local});
    if (there && kube::string_at(*there, {"phase"}) != "Terminating") continue;
    const auto known = before.find(wanted.local);
    const bool is_asked = api::NamespaceMap(remote).desired_twin(wanted.local) == wanted.remote;
    const kube::TimePoint since = known == before.end() || !is_asked ? now : known->second.since;
    missing_.insert_or_assign(std::move(wanted.local), Missing{std::move(wanted.remote), since});
  }
}

std::vector<api::WantedNamespace> MissingTwins::troubled(kube::TimePoint now) const {
  std::vector<api::WantedNamespace> twins;
  for (const auto& [local, missing] : missing_)
    if (now - missing.since < missing_patience) twins.push_back({.local = local, .remote = missing.remote});
  return twins;
}

std::optional<kube::Duration> MissingTwins::left(kube::TimePoint now) const {
  std::optional<kube::Duration> next;
  for (const auto& [local, missing] : missing_) {
    const kube::Duration left = missing.since + missing_patience - now;
    if (left > kube::Duration::zero()) next = next ? std::min(*next, left) : left;
  }
  return next;
}

}  // namespace liqo::core
