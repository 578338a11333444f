#include "core/quota/ledger.hpp"

#include <algorithm>
#include <optional>

#include "core/common/digest.hpp"
#include "kube/base/scalar.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace {

constexpr std::int64_t format_version = 1;

std::unexpected<kube::Failure> broken(std::string_view what) {
  return kube::fail(kube::Errc::parse, "the ledger is not readable: " + std::string(what));
}

std::optional<Reservation> read_reservation(const kube::json::value& entry) {
  auto pod = kube::ObjectKey::parse(kube::string_at(entry, {"pod"}));
  if (!pod) return std::nullopt;
  const kube::json::value* list = kube::find(entry, {"demand"});
  if (!list || !list->is_object()) return std::nullopt;
  auto demand = read_resources(list->get_object());
  if (!demand) return std::nullopt;
  return Reservation{.pod = std::move(*pod),
                     .demand = std::move(*demand),
                     .unproven = kube::bool_at(entry, {"unproven"}),
                     .from = static_cast<std::uint64_t>(std::max<std::int64_t>(0, kube::int_at(entry, {"from"})))};
}

kube::json::object write_reservation(const Reservation& reservation) {
  kube::json::object entry{{"pod", reservation.pod.text()}, {"demand", write_resources(reservation.demand)}};
  if (reservation.unproven) entry["unproven"] = true;
  if (reservation.grows()) entry["from"] = reservation.from;
  return entry;
}

}  // namespace

QuotaVersion version_of_quota(const kube::Object& quota) {
  return {.uid = std::string(quota.uid()), .generation = quota.generation()};
}

std::string growth_key(std::string_view uid, std::uint64_t number) {
  return std::string(uid) + "@" + std::to_string(number);
}

std::string_view uid_of(std::string_view reservation_key) {
  return reservation_key.substr(0, reservation_key.find('@'));
}

kube::Result<LedgerRecord> LedgerRecord::read(const kube::Object& config_map) {
  LedgerRecord record;
  const kube::json::value* text = kube::find(config_map.tree(), {"data", ledger_key});
  if (!text) return record;
  if (!text->is_string()) return broken("no text");
  auto parsed = kube::parse_json(text->get_string());
  if (!parsed) return broken(parsed.error().text());
  if (kube::int_at(*parsed, {"version"}) != format_version) return broken("it is of another version");
  const auto floor = kube::read_number<std::uint64_t>(kube::string_at(*parsed, {"floor"}));
  if (!floor) return broken("floor is no number");
  record.floor = *floor;
  if (const kube::json::value* quota = kube::find(*parsed, {"quota"}))
    record.quota = QuotaVersion{.uid = std::string(kube::string_at(*quota, {"uid"})),
                                .generation = kube::int_at(*quota, {"generation"})};
  for (const auto& [uid, value] : kube::object_at(*parsed, {"reservations"})) {
    if (auto reservation = read_reservation(value))
      record.reservations.emplace(std::string(uid), std::move(*reservation));
    else
      record.unreadable.emplace(std::string(uid), value);
  }
  return record;
}

std::string LedgerRecord::text() const {
  kube::json::object reserved;
  for (const auto& [uid, entry] : unreadable) reserved[uid] = entry;
  for (const auto& [uid, reservation] : reservations) reserved[uid] = write_reservation(reservation);
  kube::json::object record{
      {"version", format_version}, {"floor", std::to_string(floor)}, {"reservations", std::move(reserved)}};
  if (quota) record["quota"] = kube::json::object{{"uid", quota->uid}, {"generation", quota->generation}};
  return kube::json::serialize(record);
}

std::size_t reservation_bytes(const std::string& uid, const Reservation& reservation) {
  // The braces of the object count for the comma between entries.
  return kube::json::serialize(kube::json::object{{uid, write_reservation(reservation)}}).size();
}

bool is_recordable(const std::string& uid, const Reservation& reservation) {
  return reservation_bytes(uid, reservation) <= max_reservation_bytes &&
         read_reservation(write_reservation(reservation)).has_value();
}

std::string ledger_name(const kube::ObjectKey& quota) { return "liqo-quota-" + sha256_hex(quota.text()).substr(0, 16); }

kube::Object forge_ledger(std::string_view liqo_namespace, const kube::ObjectKey& quota, const LedgerRecord& record) {
  auto made = kube::Object::make(kube::resources::config_maps, {std::string(liqo_namespace), ledger_name(quota)});
  made.set_label(api::labels::app_managed_by, api::labels::app_managed_by_liqo);
  made.set_label(api::labels::ledger, "true");
  made.set_annotation(api::annotations::ledger_quota, quota.text());
  made.tree()["data"] = kube::json::object{{ledger_key, record.text()}};
  return made;
}

}  // namespace liqo::core
