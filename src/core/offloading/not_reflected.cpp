#include "core/offloading/not_reflected.hpp"

#include <algorithm>
#include <vector>

#include "kube/base/text.hpp"

namespace liqo::core {
namespace {

namespace json = kube::json;
using kube::string_at;

constexpr std::size_t max_named = 8;

}  // namespace

std::string not_reflected(const kube::Object& pod, const std::function<bool(std::string_view)>& follows) {
  std::vector<std::string> names;
  for (const json::value& volume : kube::array_at(pod.spec(), {"volumes"})) {
    const std::string_view claim = string_at(volume, {"persistentVolumeClaim", "claimName"});
    if (claim.empty() || follows(claim)) continue;
    std::string one = "PersistentVolumeClaim " + std::string(claim);
    if (std::ranges::find(names, one) == names.end()) names.push_back(std::move(one));
  }
  return kube::join_some(names, max_named);
}

std::string describe_not_reflected(const std::string& objects, const std::string& provider) {
  return "the pod uses " + objects + ", and nothing of that is copied to cluster " + provider +
         ": unless objects of these names are in its namespace there, it cannot start; keep such pods at home, have "
         "these objects made there, or use claims of the StorageClass of Liqo (storage.enabled)";
}

}  // namespace liqo::core
