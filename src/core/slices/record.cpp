#include "core/slices/record.hpp"

#include "liqo/api/annotations.hpp"
#include "liqo/api/quota.hpp"

namespace liqo::core {
namespace json = kube::json;

std::optional<SliceRecord> read_slice_record(const kube::Object& quota, std::string_view slice_uid) {
  const auto owner = quota.controller();
  if (!owner || owner->uid != slice_uid) return std::nullopt;
  auto parsed = kube::parse_json(quota.annotation(api::annotations::negotiated));
  if (parsed && parsed->is_object()) {
    auto request = read_resources(kube::object_at(*parsed, {"request"}));
    auto granted = read_resources(kube::object_at(*parsed, {"granted"}));
    std::string slice_class(kube::string_at(*parsed, {"class"}));
    if (request && granted && !slice_class.empty())
      return SliceRecord{
          .slice_class = std::move(slice_class), .request = std::move(*request), .granted = std::move(*granted)};
  }
  auto granted = read_resources(api::Quota(quota).resources());
  if (!granted) return std::nullopt;
  return SliceRecord{.slice_class = "", .request = {}, .granted = std::move(*granted)};
}

std::string write_slice_record(const SliceRecord& record) {
  return json::serialize(json::object{{"class", record.slice_class},
                                      {"request", write_resources(record.request)},
                                      {"granted", write_resources(record.granted)}});
}

}  // namespace liqo::core
