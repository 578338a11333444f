#include "liqo/core/not_reflected.hpp"

#include <algorithm>
#include <vector>

namespace liqo::core {
namespace {

namespace json = kube::json;
using kube::string_at;

constexpr std::size_t most_named = 8;

class Names {
 public:
  void add(std::string_view kind, std::string_view name, const json::value* optional = nullptr) {
    const bool is_optional = optional && optional->is_bool() && optional->get_bool();
    if (name.empty() || is_optional) return;
    std::string one = std::string(kind) + " " + std::string(name);
    if (std::ranges::find(names_, one) == names_.end()) names_.push_back(std::move(one));
  }
  std::string text() const {
    std::string out;
    for (std::size_t i = 0; i < std::min(names_.size(), most_named); ++i) out += (i ? ", " : "") + names_[i];
    if (names_.size() > most_named) out += " and " + std::to_string(names_.size() - most_named) + " more";
    return out;
  }

 private:
  std::vector<std::string> names_;
};

}  // namespace

std::string not_reflected(const kube::Object& pod) {
  Names names;
  for (const json::value& volume : kube::array_at(pod.spec(), {"volumes"})) {
    names.add("Secret", string_at(volume, {"secret", "secretName"}), kube::find(volume, {"secret", "optional"}));
    names.add("PersistentVolumeClaim", string_at(volume, {"persistentVolumeClaim", "claimName"}));
    for (const json::value& source : kube::array_at(volume, {"projected", "sources"}))
      names.add("Secret", string_at(source, {"secret", "name"}), kube::find(source, {"secret", "optional"}));
  }
  for (const std::string_view list : {"initContainers", "containers"})
    for (const json::value& container : kube::array_at(pod.spec(), {list})) {
      for (const json::value& variable : kube::array_at(container, {"env"}))
        names.add("Secret", string_at(variable, {"valueFrom", "secretKeyRef", "name"}),
                  kube::find(variable, {"valueFrom", "secretKeyRef", "optional"}));
      for (const json::value& source : kube::array_at(container, {"envFrom"}))
        names.add("Secret", string_at(source, {"secretRef", "name"}), kube::find(source, {"secretRef", "optional"}));
    }
  // Not those that images are pulled with: where the image is public, or there already, a pod starts without.
  return names.text();
}

std::string describe_not_reflected(const std::string& objects, const std::string& provider) {
  return "The pod uses " + objects + ", which are not copied to cluster " + provider +
         ": unless objects of these names are in its namespace there, it cannot start. Keep such pods at home, or have "
         "these objects made there";
}

}  // namespace liqo::core
