#include "core/slices/share.hpp"

#include <algorithm>
#include <limits>

#include "core/slices/request.hpp"

namespace liqo::core {
namespace {

__extension__ using Wide = __int128;
constexpr std::int64_t mebi = std::int64_t(1) << 20;
constexpr std::string_view hugepages = "hugepages-";
/// Legacy volume counts are a property of nodes and not requested by pods.
constexpr std::string_view volumes = "attachable-volumes-";

/// Rounds down, where Quantity rounds away from zero.
std::int64_t whole_below(const kube::Quantity& amount) {
  const std::int64_t above = amount.value();
  return above > 0 && kube::Quantity(above) > amount ? above - 1 : above;
}

std::int64_t milli_below(const kube::Quantity& amount) {
  const std::int64_t above = amount.milli_value();
  // An amount beyond the range of thousandths is cut to it and needs no correction.
  const auto exact = kube::Quantity::parse(std::to_string(above) + "m");
  return above > 0 && exact && *exact > amount ? above - 1 : above;
}

std::int64_t part(std::int64_t amount, int percentage, int slices, bool half_up) {
  const Wide whole = Wide(100) * slices;
  return std::int64_t((Wide(amount) * percentage + (half_up ? whole / 2 : 0)) / whole);
}

kube::Quantity share_of_one(std::string_view name, const kube::Quantity& free, int percentage, int slices) {
  if (free.sign() <= 0) return {};
  if (name == "cpu")
    return *kube::Quantity::parse(std::to_string(part(milli_below(free), percentage, slices, false)) + "m");
  if (is_counted(name)) {
    const std::int64_t whole = whole_below(free);
    const std::int64_t least = percentage > 0 && whole >= slices ? 1 : 0;
    // Rounding up for each of several slices would give away more than there is.
    return kube::Quantity(std::max(least, part(whole, percentage, slices, slices == 1)));
  }
  std::int64_t unit = mebi;
  if (name.starts_with(hugepages)) {
    const auto page = kube::Quantity::parse(name.substr(hugepages.size()));
    if (!page || page->sign() <= 0) return {};
    unit = page->value();
  }
  const std::int64_t bytes = part(whole_below(free), percentage, slices, false);
  return kube::Quantity(bytes - bytes % unit, kube::Quantity::Format::binary);
}

/// Whether `to` differs from `from` by more than `share_jump_percentage`.
bool jumps(const kube::Quantity& from, const kube::Quantity& to) {
  const kube::Quantity difference = to > from ? to - from : from - to;
  return difference * 100 > from * share_jump_percentage;
}

bool any_jumps(const Resources& from, const Resources& to) {
  const auto jumped = [](const Resources& left, const Resources& right) {
    return std::ranges::any_of(left,
                               [&right](const auto& entry) { return jumps(entry.second, amount(right, entry.first)); });
  };
  const auto appeared = [&from](const auto& entry) { return !from.contains(entry.first) && !entry.second.is_zero(); };
  return jumped(from, to) || std::ranges::any_of(to, appeared);
}

}  // namespace

Resources share_of(const Resources& free, int percentage, const Resources& bounds, int slices) {
  Resources share;
  for (const auto& [name, available] : free)
    if (!name.starts_with(volumes)) share.emplace(name, share_of_one(name, available, percentage, slices));
  for (const auto& [name, bound] : bounds) {
    const auto [at, added] = share.emplace(name, kube::Quantity());
    if (!added && at->second > bound) at->second = bound;
  }
  return share;
}

ShareStep settle_share(const Resources& granted, const Resources& target, const std::optional<PendingShare>& pending,
                       kube::TimePoint now) {
  if (target == granted) return {.granted = granted, .pending = std::nullopt};
  if (any_jumps(granted, target)) return {.granted = target, .pending = std::nullopt};
  if (!pending || pending->target != target)
    return {.granted = granted, .pending = PendingShare{target, now}, .again_after = share_quiet_time};
  const kube::Duration quiet = now - pending->since;
  if (quiet >= share_quiet_time) return {.granted = target, .pending = std::nullopt};
  return {.granted = granted, .pending = pending, .again_after = share_quiet_time - quiet};
}

}  // namespace liqo::core
