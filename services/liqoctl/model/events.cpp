#include "model/events.hpp"

#include "kube/base/printable.hpp"

namespace liqoctl::model {

using kube::string_at;

std::string_view last_seen(const kube::Object& event) {
  const std::string_view last = string_at(event.tree(), {"lastTimestamp"});
  const std::string_view once = string_at(event.tree(), {"eventTime"});
  return !last.empty() ? last : !once.empty() ? once : event.creation_timestamp();
}

std::string newest_message(const std::vector<kube::Object>& events, std::string_view uid, kube::WallTime since) {
  const kube::Object* newest = nullptr;
  for (const kube::Object& event : events) {
    const auto seen = kube::parse_time(last_seen(event));
    if (!seen || *seen < since || string_at(event.tree(), {"involvedObject", "uid"}) != uid) continue;
    if (!newest || last_seen(event) >= last_seen(*newest)) newest = &event;
  }
  return newest ? kube::printable(string_at(newest->tree(), {"message"}).substr(0, 512)) : "";
}

}  // namespace liqoctl::model
