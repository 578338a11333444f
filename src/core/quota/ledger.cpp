#include "liqo/core/quota/ledger.hpp"

#include <charconv>

#include "liqo/core/mapping/names.hpp"

namespace liqo::core {
namespace {

constexpr std::int64_t format_version = 1;

std::unexpected<kube::Failure> unreadable(std::string_view what) {
  return kube::fail(kube::Errc::parse, "the ledger is not readable: " + std::string(what));
}

}  // namespace

kube::Result<LedgerRecord> LedgerRecord::read(const kube::Object& config_map) {
  LedgerRecord record;
  const kube::json::value* text = kube::find(config_map.tree(), {"data", ledger_key});
  if (!text) return record;
  if (!text->is_string()) return unreadable("no text");
  auto parsed = kube::parse_json(text->get_string());
  if (!parsed) return unreadable(parsed.error().text());
  if (kube::int_at(*parsed, {"version"}) != format_version) return unreadable("it is of another version");
  const std::string_view floor = kube::string_at(*parsed, {"floor"});
  const auto [end, failure] = std::from_chars(floor.data(), floor.data() + floor.size(), record.floor);
  if (failure != std::errc() || end != floor.data() + floor.size()) return unreadable("floor is no number");
  for (const auto& [uid, value] : kube::object_at(*parsed, {"reservations"})) {
    const std::string_view pod = kube::string_at(value, {"pod"});
    const std::size_t slash = pod.find('/');
    if (slash == std::string_view::npos) return unreadable("a reservation names no pod");
    auto demand = read_resources(kube::object_at(value, {"demand"}));
    if (!demand) return unreadable(demand.error().text());
    record.reservations.emplace(
        std::string(uid), Reservation{.pod = {std::string(pod.substr(0, slash)), std::string(pod.substr(slash + 1))},
                                      .demand = std::move(*demand)});
  }
  return record;
}

std::string LedgerRecord::text() const {
  kube::json::object reserved;
  for (const auto& [uid, reservation] : reservations)
    reserved[uid] =
        kube::json::object{{"pod", reservation.pod.text()}, {"demand", write_resources(reservation.demand)}};
  return kube::json::serialize(kube::json::object{
      {"version", format_version}, {"floor", std::to_string(floor)}, {"reservations", std::move(reserved)}});
}

std::string ledger_name(const kube::ObjectKey& quota) { return "liqo-quota-" + sha256_hex(quota.text()).substr(0, 16); }

kube::Object forge_ledger(std::string_view liqo_namespace, const kube::ObjectKey& quota, const LedgerRecord& record) {
  auto made = kube::Object::make(kube::resources::config_maps, {std::string(liqo_namespace), ledger_name(quota)});
  made.set_label("app.kubernetes.io/managed-by", "liqo");
  made.set_label("liqo.io/ledger", "true");
  made.set_annotation(ledger_quota_annotation, quota.text());
  made.tree()["data"] = kube::json::object{{ledger_key, record.text()}};
  return made;
}

std::string refuse_demand(const QuotaState& state, const Resources& demand) {
  for (const auto& [name, asked] : demand) {
    if (asked.is_zero()) continue;
    const auto hard = state.hard.find(name);
    if (hard == state.hard.end()) {
      if (name == "pods") continue;
      return "quota " + state.quota.text() + " grants no " + name + ": the pod asks for " + asked.text() +
             ", and the resource is not part of the slice";
    }
    const kube::Quantity used = amount(state.used, name);
    if (used + asked <= hard->second) continue;
    const kube::Quantity free = used < hard->second ? hard->second - used : kube::Quantity(0, asked.format());
    return "quota " + state.quota.text() + " has not enough " + name + ": asked " + asked.text() + ", used " +
           used.text() + " of " + hard->second.text() + ", free " + free.text();
  }
  return "";
}

}  // namespace liqo::core
