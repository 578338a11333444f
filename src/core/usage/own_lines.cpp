#include "core/usage/own_lines.hpp"

#include "kube/wire/metrics_text.hpp"

namespace liqo::core {
namespace {

// More families than kubelets have, and longer names: of others the type is not written.
constexpr std::size_t max_families = 1024, max_name = 200;

bool is_of_family(std::string_view name, std::string_view family) {
  if (!name.starts_with(family)) return false;
  const std::string_view rest = name.substr(family.size());
  return rest.empty() || rest == "_bucket" || rest == "_sum" || rest == "_count";
}

}  // namespace

std::string OwnLines::take(std::string_view line) {
  if (const auto comment = kube::wire::parse_metric_comment(line)) {
    if (!comment->is_type) return {};
    type_of_ = comment->name.size() <= max_name ? comment->name : std::string_view();
    type_ = comment->text;
    return {};
  }
  auto sample = kube::wire::parse_metric_sample(line);
  if (!sample) return {};
  const kube::ObjectKey pod{std::string(kube::wire::label_of(*sample, "namespace")),
                            std::string(kube::wire::label_of(*sample, "pod"))};
  if (pod.name.empty()) return {};
  const std::string uid = uid_of_(pod);
  if (uid.empty()) return {};
  if (const auto at = kube::wire::metric_time(*sample); at && !is_time(*at, now_)) return {};
  for (auto& label : sample->labels)
    if (label.name == "pod_uid") label.value = uid;
  std::string text;
  if (!type_of_.empty() && is_of_family(sample->name, type_of_) && written_.size() < max_families &&
      written_.insert(type_of_).second)
    text = "# TYPE " + type_of_ + " " + type_ + "\n";
  ++samples_;
  return text += kube::wire::metric_line(*sample);
}

}  // namespace liqo::core
