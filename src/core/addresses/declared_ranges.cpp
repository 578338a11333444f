#include "core/addresses/declared_ranges.hpp"

#include "liqo/api/annotations.hpp"

namespace liqo::core {

kube::Result<std::optional<std::vector<Cidr>>> read_declared_ranges(const kube::Object& foreign_cluster) {
  const std::string_view key = api::annotations::remote_pod_cidrs;
  if (!foreign_cluster.has_annotation(key)) return std::optional<std::vector<Cidr>>();
  const std::string_view text = foreign_cluster.annotation(key);
  return text == "none" ? std::vector<Cidr>() : parse_ranges(text);
}

}  // namespace liqo::core
