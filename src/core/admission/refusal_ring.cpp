#include "core/admission/refusal_ring.hpp"

#include <algorithm>
#include <limits>
#include <ranges>

#include "core/common/gist.hpp"
#include "kube/base/printable.hpp"

namespace liqo::core::admission {
namespace json = kube::json;
namespace {

/// Kubernetes' own bounds, so that no name is cut that an API server has let through.
constexpr std::size_t max_kind = 63, max_name = 253;
/// Longer than any ring that was written here.
constexpr std::size_t max_text = 4 * RefusalRing::max_bytes;
constexpr std::size_t max_depth = 4;
/// Count and times may become longer while an entry is kept.
constexpr std::size_t slack = 20;
/// Clocks of replicas differ by less.
constexpr std::chrono::minutes max_skew{1};

json::object to_json(const RefusedObject& refused) {
  return {{"kind", refused.kind},
          {"namespace", refused.ns},
          {"name", refused.name},
          {"reason", refused.reason},
          {"count", refused.count},
          {"firstTime", kube::format_time(refused.first)},
          {"lastTime", kube::format_time(refused.last)}};
}

/// Swaps, because an assignment may keep the memory of the longer text.
void cut(std::string& text, std::size_t max) {
  std::string line = kube::one_line(text, max);
  text.swap(line);
}

std::int64_t sum(std::int64_t one, std::int64_t other) {
  return other > std::numeric_limits<std::int64_t>::max() - one ? std::numeric_limits<std::int64_t>::max()
                                                                : one + other;
}

}  // namespace

void RefusalRing::cut_texts(RefusedObject& refused) {
  cut(refused.kind, max_kind);
  cut(refused.ns, max_kind);
  cut(refused.name, max_name);
  cut(refused.reason, max_reason);
}

void RefusalRing::add(RefusedObject refused) {
  cut_texts(refused);
  const auto [entry, is_new] =
      entries_.try_emplace({refused.kind, refused.ns, refused.name, std::string(gist(refused.reason))});
  Seen& seen = entry->second;
  const bool is_older = !is_new && refused.last < seen.last;
  seen.count = sum(seen.count, std::max<std::int64_t>(refused.count, 1));
  seen.first = is_new ? refused.first : std::min(seen.first, refused.first);
  if (is_older) return;
  seen.last = refused.last;
  if (!is_new && seen.reason == refused.reason) return;
  bytes_ -= seen.bytes;
  seen.bytes = json::serialize(to_json(refused)).size() + slack;
  bytes_ += seen.bytes;
  seen.reason = std::move(refused.reason);
  while (entries_.size() > 1 && (entries_.size() > max_entries || bytes_ > max_bytes)) drop_oldest_but(seen);
}

void RefusalRing::add(const RefusalRing& other, kube::WallTime now) {
  std::vector<RefusedObject> added = other.newest_first();
  kube::WallTime earliest = now;
  for (RefusedObject& refused : added) {
    refused.last = std::min(refused.last, now);
    refused.first = std::min(refused.first, refused.last);
    earliest = std::min(earliest, refused.last);
  }
  for (auto& [name, seen] : entries_) {
    if (seen.last > now + max_skew) seen.last = earliest - std::chrono::seconds(1);
    seen.first = std::min(seen.first, seen.last);
  }
  for (RefusedObject& refused : added | std::views::reverse) add(std::move(refused));
}

void RefusalRing::drop_oldest_but(const Seen& kept) {
  const auto last_of = [&kept](const auto& entry) {
    return &entry.second == &kept ? kube::WallTime::max() : entry.second.last;
  };
  const auto oldest = std::ranges::min_element(entries_, {}, last_of);
  bytes_ -= oldest->second.bytes;
  entries_.erase(oldest);
}

std::vector<RefusedObject> RefusalRing::newest_first() const {
  std::vector<RefusedObject> all;
  for (const auto& [name, seen] : entries_) {
    const auto& [kind, ns, object, what] = name;
    all.push_back({.kind = kind,
                   .ns = ns,
                   .name = object,
                   .reason = seen.reason,
                   .count = seen.count,
                   .first = seen.first,
                   .last = seen.last});
  }
  std::ranges::sort(all, [](const RefusedObject& one, const RefusedObject& other) {
    return std::tie(other.last, one.kind, one.ns, one.name, one.reason) <
           std::tie(one.last, other.kind, other.ns, other.name, other.reason);
  });
  return all;
}

RefusalRing RefusalRing::read(const kube::Object& config_map) {
  RefusalRing ring;
  const std::string_view text = kube::string_at(config_map.tree(), {"data", refusals_entry});
  if (text.empty() || text.size() > max_text) return ring;
  const auto document = kube::parse_json(text, max_depth);
  const json::array* entries = document ? document->if_array() : nullptr;
  if (!entries) return ring;
  for (const json::value& entry : *entries) {
    const auto first = kube::parse_time(kube::string_at(entry, {"firstTime"}));
    const auto last = kube::parse_time(kube::string_at(entry, {"lastTime"}));
    if (!first || !last) continue;
    ring.add({.kind = std::string(kube::string_at(entry, {"kind"})),
              .ns = std::string(kube::string_at(entry, {"namespace"})),
              .name = std::string(kube::string_at(entry, {"name"})),
              .reason = std::string(kube::string_at(entry, {"reason"})),
              .count = kube::int_at(entry, {"count"}),
              .first = *first,
              .last = *last});
  }
  return ring;
}

void RefusalRing::write(kube::Object& config_map) const {
  json::array entries;
  for (const RefusedObject& refused : newest_first()) entries.push_back(to_json(refused));
  kube::ensure_object(config_map.tree(), "data")[refusals_entry] = json::serialize(entries);
}

}  // namespace liqo::core::admission
