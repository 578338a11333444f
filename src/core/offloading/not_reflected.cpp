#include "core/offloading/not_reflected.hpp"

#include <algorithm>
#include <vector>

#include "kube/base/text.hpp"

namespace liqo::core {
namespace {

namespace json = kube::json;
using kube::string_at;

constexpr std::size_t max_named = 8;
constexpr std::string_view volume_claim = "PersistentVolumeClaim";

}  // namespace

std::string not_reflected(const kube::Object& pod, const std::function<bool(std::string_view)>& follows) {
  std::vector<std::string> names;
  const auto add = [&names](std::string_view kind, std::string_view name) {
    std::string one = std::string(kind) + " " + std::string(name);
    if (!name.empty() && std::ranges::find(names, one) == names.end()) names.push_back(std::move(one));
  };
  for (const json::value& volume : kube::array_at(pod.spec(), {"volumes"})) {
    const std::string_view claim = string_at(volume, {"persistentVolumeClaim", "claimName"});
    if (!claim.empty() && !follows(claim)) add(volume_claim, claim);
  }
  for (const json::value& claim : kube::array_at(pod.spec(), {"resourceClaims"})) {
    add("ResourceClaim", string_at(claim, {"resourceClaimName"}));
    add("ResourceClaimTemplate", string_at(claim, {"resourceClaimTemplateName"}));
  }
  return kube::join_some(names, max_named);
}

std::string describe_not_reflected(const std::string& objects, const std::string& provider) {
  return "the pod uses " + objects + ", and nothing of that is copied to cluster " + provider +
         ": unless objects of these names are in its namespace there, it cannot start; keep such pods at home" +
         (objects.contains(volume_claim)
              ? ", have these objects made there, or use claims of the StorageClass of Liqo (storage.enabled)"
              : " or have these objects made there");
}

}  // namespace liqo::core
