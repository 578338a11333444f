#include "model/peer/pod_ranges.hpp"

#include "core/common/peer_names.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/labels.hpp"

namespace liqoctl::model {
namespace {

namespace core = liqo::core;
using kube::Errc;
using kube::string_at;

constexpr std::size_t max_published = 64;

bool is_virtual(const kube::Object& node) {
  return node.label(liqo::api::labels::type) == liqo::api::labels::type_virtual_node;
}

/// Adds the texts of a list that are ranges.
void add_ranges(const kube::json::array& texts, std::vector<Cidr>& into) {
  for (const kube::json::value& text : texts)
    if (const auto* words = text.if_string())
      if (const auto range = Cidr::parse(*words)) into.push_back(*range);
}

std::vector<Cidr> pod_ranges_of(const kube::Object& node) {
  std::vector<Cidr> ranges;
  add_ranges(kube::array_at(node.spec(), {"podCIDRs"}), ranges);
  if (const auto one = Cidr::parse(string_at(node.spec(), {"podCIDR"})); one && ranges.empty()) ranges.push_back(*one);
  return ranges;
}

Cidr only(const core::IpAddress& address) { return Cidr::masked(address, address.v6 ? 128 : 32); }

}  // namespace

kube::Result<PodRanges> read_pod_ranges(const std::vector<std::string>& words) {
  const std::string joined = kube::join(words, ",");
  if (joined == "none") return PodRanges();
  KUBE_TRY(ranges, core::parse_ranges(joined), "--pod-cidr");
  if (ranges.empty()) return kube::fail(Errc::invalid_input, "--pod-cidr: give ranges, or none");
  return PodRanges{.ranges = core::merge_ranges(std::move(ranges))};
}

std::vector<Cidr> published_ranges(const kube::Object* cluster_id, const std::vector<kube::Object>& networks) {
  const std::string_view told =
      cluster_id ? string_at(cluster_id->tree(), {"data", core::pod_cidrs_key}) : std::string_view();
  std::string joined(told);
  if (told.empty())
    for (const kube::Object& network : networks)
      if (network.label("ipam.liqo.io/network-type") == "pod-cidr")
        joined.append(",").append(string_at(network.spec(), {"cidr"}));
  auto ranges = core::parse_ranges(joined);
  if (!ranges || ranges->size() > max_published) return {};
  return core::merge_ranges(std::move(*ranges));
}

std::vector<Cidr> node_ranges(const std::vector<kube::Object>& nodes) {
  std::vector<Cidr> ranges;
  for (const kube::Object& node : nodes) {
    if (is_virtual(node)) continue;
    const auto some = pod_ranges_of(node);
    ranges.insert(ranges.end(), some.begin(), some.end());
  }
  ranges = core::merge_ranges(std::move(ranges));
  return ranges.size() > max_published ? std::vector<Cidr>() : ranges;
}

std::vector<OwnRange> own_ranges(const std::vector<kube::Object>& service_cidrs, const kube::Object* api_service,
                                 const std::vector<kube::Object>& nodes) {
  std::vector<OwnRange> own;
  const auto add = [&own](const std::vector<Cidr>& ranges, const std::string& what) {
    for (const Cidr& range : ranges) own.push_back({range, what});
  };
  for (const kube::Object& object : service_cidrs) {
    std::vector<Cidr> ranges;
    add_ranges(kube::array_at(object.spec(), {"cidrs"}), ranges);
    add(ranges, "Services (ServiceCIDR " + std::string(object.name()) + ")");
  }
  if (const auto address =
          core::IpAddress::parse(api_service ? string_at(api_service->spec(), {"clusterIP"}) : std::string_view()))
    add({only(*address)}, "Service kubernetes");
  for (const kube::Object& node : nodes) {
    if (is_virtual(node)) continue;
    add(pod_ranges_of(node), "pods of node " + std::string(node.name()));
    for (const kube::json::value& entry : kube::array_at(node.status(), {"addresses"}))
      if (const auto address = core::IpAddress::parse(string_at(entry, {"address"})))
        add({only(*address)}, "node " + std::string(node.name()));
  }
  return own;
}

kube::Result<void> check_overlap(std::string_view provider, std::span<const Cidr> ranges,
                                 std::span<const OwnRange> own) {
  for (const Cidr& range : ranges)
    for (const OwnRange& mine : own)
      if (range.overlaps(mine.range))
        return kube::fail(Errc::invalid_input,
                          "pods of " + std::string(provider) + " in " + range.text() +
                              " cannot be told from what this cluster has itself: " + mine.what + " in " +
                              mine.range.text() +
                              "; give their ranges as this cluster reaches them with --pod-cidr, or --pod-cidr none: "
                              "then they show no addresses here");
  return {};
}

}  // namespace liqoctl::model
