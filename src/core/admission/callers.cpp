#include "core/admission/callers.hpp"

#include <algorithm>

#include "core/admission/patch.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::core::admission {
namespace {

using api::annotations::asked_from;

constexpr std::string_view probe_name = "liqo-probe";

}  // namespace

void ProvenCallers::prove(std::string_view address, kube::TimePoint now) {
  if (const auto found = proven_.find(address); found != proven_.end()) {
    found->second = now;
    return;
  }
  std::erase_if(proven_, [now](const auto& entry) { return now - entry.second >= lifetime; });
  if (proven_.size() >= max_proven)
    proven_.erase(std::ranges::min_element(proven_, {}, [](const auto& entry) { return entry.second; }));
  proven_.emplace(address, now);
}

bool ProvenCallers::has(std::string_view address, kube::TimePoint now) const {
  const auto found = proven_.find(address);
  return found != proven_.end() && now - found->second < lifetime;
}

bool ProvenCallers::has_all(std::span<const std::string> addresses, kube::TimePoint now) const {
  return !addresses.empty() &&
         std::ranges::all_of(addresses, [&](const std::string& address) { return has(address, now); });
}

kube::Object forge_probe() {
  auto made = kube::Object::make(api::kinds::foreign_clusters, {"", std::string(probe_name)});
  made.set_annotation(asked_from, "");
  made.tree()["spec"] = json::object{{"clusterID", probe_name}};
  return made;
}

std::optional<Answer> answer_probe(const Request& request) {
  if (request.operation != Operation::create || !request.dry_run || request.object.name() != probe_name ||
      !request.object.annotations().contains(asked_from))
    return std::nullopt;
  Answer answer;
  answer.patch.push_back(json::object{
      {"op", "replace"}, {"path", pointer({"metadata", "annotations", asked_from})}, {"value", request.caller}});
  return answer;
}

std::string_view probed_address(const kube::Object& answered) { return answered.annotation(asked_from); }

}  // namespace liqo::core::admission
