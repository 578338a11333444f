#include "core/offloading/lost_fields.hpp"

#include <algorithm>
#include <ranges>
#include <string_view>
#include <utility>

#include "core/common/json_values.hpp"
#include "core/offloading/left_out.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// The keys that distinguish entries of a pod's lists, the more particular one first: mounts of one volume share a
/// name.
constexpr std::string_view entry_keys[] = {"mountPath", "devicePath", "name"};

/// The fields of k8s.io/api/core/v1 that are no pointers, and have no default: false or 0 is as good as nothing in
/// them.
constexpr std::string_view left_out_at_zero[] = {
    "chapAuthDiscovery", "chapAuthSession", "hostIPC",    "hostNetwork", "hostPID",   "hostPort", "initialDelaySeconds",
    "partition",         "readOnly",        "sslEnabled", "stdin",       "stdinOnce", "tty"};

/// What probes do if they do not say it. API servers of 1.37 write the protocol into each probe by HTTP if they know
/// it.
constexpr struct {
  std::string_view field, value;
} defaults[] = {{"mode", "Plaintext"}, {"protocol", "HTTP1"}};

/// How far from its place an entry is looked for: webhooks add a few. How many entries there are is the peer's choice,
/// so a search among all of them for each would hold this process up.
constexpr std::size_t max_shift = 64;

/// One step of a path. Paths are put together only for what is lost, because nearly always nothing is.
struct Step {
  const Step* above;
  std::string_view field;
  std::size_t entry = 0;
  bool is_entry = false;

  std::string path() const {
    std::string text = above ? above->path() : std::string();
    if (is_entry) return text + "[" + std::to_string(entry) + "]";
    return text + (above ? "." : "") + std::string(field);
  }
};

/// The stored entry that stands for the sent one; null if it cannot be found.
const json::value* counterpart(const json::array& sent, std::size_t place, const json::array& stored) {
  for (const std::string_view key : entry_keys) {
    const std::string_view name = kube::string_at(sent[place], {key});
    if (name.empty()) continue;
    const auto has_name = [&](const json::value& entry) { return kube::string_at(entry, {key}) == name; };
    if (place < stored.size() && has_name(stored[place])) return &stored[place];
    auto near =
        stored | std::views::drop(place > max_shift ? place - max_shift : 0) | std::views::take(2 * max_shift + 1);
    const auto found = std::ranges::find_if(near, has_name);
    return found == near.end() ? nullptr : &*found;
  }
  return sent.size() == stored.size() ? &stored[place] : nullptr;
}

class Comparison {
 public:
  void compare(const json::object& sent, const json::object& stored, const Step* above) {
    for (const auto& [key, value] : sent) {
      if (lost.size() >= max_left_out) return;
      if (asks_for_nothing(key, value)) continue;
      const Step step{.above = above, .field = key};
      const json::value* kept = stored.if_contains(key);
      if (!kept || kept->is_null())
        lost.push_back(step.path());
      else
        compare_values(value, *kept, step);
    }
  }

  std::vector<std::string> lost;

 private:
  void compare_values(const json::value& sent, const json::value& stored, const Step& step) {
    const json::object *object = sent.if_object(), *kept = stored.if_object();
    if (object && kept) return compare(*object, *kept, &step);
    const json::array *list = sent.if_array(), *kept_list = stored.if_array();
    if (!list || !kept_list) return;
    for (std::size_t i = 0; i < list->size() && lost.size() < max_left_out; ++i) {
      const json::object* entry = (*list)[i].if_object();
      const json::value* other = entry ? counterpart(*list, i, *kept_list) : nullptr;
      const Step place{.above = &step, .field = {}, .entry = i, .is_entry = true};
      if (other && other->is_object()) compare(*entry, other->get_object(), &place);
    }
  }
};

}  // namespace

bool asks_for_nothing(std::string_view field, const json::value& value) {
  const bool* flag = value.if_bool();
  if (const json::string* text = value.if_string())
    for (const auto& set : defaults)
      if (field == set.field && std::string_view(*text) == set.value) return true;
  const bool is_zero = flag ? !*flag : value.is_number() && value.to_number<double>() == 0;
  return is_zero ? std::ranges::find(left_out_at_zero, field) != std::end(left_out_at_zero) : is_empty(value);
}

std::vector<std::string> lost_fields(const json::object& sent, const json::object& stored) {
  Comparison comparison;
  comparison.compare(sent, stored, nullptr);
  return std::move(comparison.lost);
}

}  // namespace liqo::core
