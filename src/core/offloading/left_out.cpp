#include "core/offloading/left_out.hpp"

#include <algorithm>
#include <utility>

#include "core/offloading/placement_wishes.hpp"
#include "core/offloading/pod_reads.hpp"
#include "core/policy/kept_metadata.hpp"
#include "kube/base/json.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

// Room for sixteen texts of the greatest length, quoted and escaped.
constexpr std::size_t max_annotation = 4'096;

constexpr std::string_view field_mark = "field ", topology_mark = "nodes with label ";
constexpr std::string_view names_mark =
    "names of its home, because with them its dnsConfig would have too many searches";

/// How many of the things begin so.
std::size_t count_marked(std::span<const std::string> things, std::string_view mark) {
  const auto count = std::ranges::count_if(things, [mark](const std::string& one) { return one.starts_with(mark); });
  return static_cast<std::size_t>(count);
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

std::string forge_left_out(std::span<const std::string> things) {
  json::array named;
  for (const std::string& thing : things.first(std::min(things.size(), max_left_out)))
    if (is_printable(thing)) named.emplace_back(std::string_view(thing).substr(0, max_left_out_text));
  return named.empty() ? "" : json::serialize(named);
}

std::vector<std::string> read_left_out(std::string_view annotation) {
  std::vector<std::string> things;
  if (annotation.empty() || annotation.size() > max_annotation) return things;
  const auto document = kube::parse_json(annotation, 2);
  const json::array* named = document ? document->if_array() : nullptr;
  if (!named) return things;
  for (const json::value& entry : *named) {
    if (things.size() >= max_left_out) break;
    const json::string* text = entry.if_string();
    if (text && !text->empty() && is_printable(*text))
      things.emplace_back(std::string_view(*text).substr(0, max_left_out_text));
  }
  return things;
}

std::string left_out_priority_class(std::string_view name) { return "priority class " + std::string(name); }

std::string left_out_field(std::string_view path) { return std::string(field_mark) + std::string(path); }

std::string left_out_names() { return std::string(names_mark); }

std::vector<std::string> left_out_of(const kube::Object& local, const kube::Object& remote) {
  std::vector<std::string> things = read_left_out(remote.annotation(api::annotations::left_out));
  if (!things.empty())
    for (const auto& [key, value] : local.annotations())
      if (const auto named = std::ranges::find(things, left_out_annotation(key));
          named != things.end() && has_read(remote.annotations(), key))
        things.erase(named);
  const auto add = [&things](const std::string& thing) {
    std::string named = thing.substr(0, max_left_out_text);
    if (std::ranges::find(things, named) == things.end()) things.push_back(std::move(named));
  };
  const std::string_view wanted = kube::string_at(local.spec(), {"priorityClassName"});
  if (!wanted.empty() && kube::string_at(remote.spec(), {"priorityClassName"}).empty())
    add(left_out_priority_class(wanted));
  for (const std::string& key : unmet_topology_keys(local, remote)) add(std::string(topology_mark) + key);
  return things;
}

std::string describe_left_out(std::span<const std::string> things, std::string_view provider) {
  const std::size_t fields = count_marked(things, field_mark), keys = count_marked(things, topology_mark),
                    names = count_marked(things, names_mark);
  std::string words = "cluster " + std::string(provider) + " runs the pod without: " + kube::join(things, ", ");
  if (fields > 0)
    words +=
        "; its API server did not store the fields, as with an older Kubernetes, a feature that is off or a webhook "
        "there";
  if (keys > 0) words += "; none of its nodes has such a label, so pods are not spread or put together by it there";
  if (fields + keys + names < things.size())
    words += std::string("; its administrator can allow ") +
             (keys + names > 0 ? "the rest"
              : fields > 0     ? "what is no field"
                               : "them") +
             " in the policy of this cluster";
  return words;
}

}  // namespace liqo::core
