// Reads the Events about an object.
#pragma once

#include <string>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// When the Event was last seen, by its own fields.
std::string_view last_seen(const kube::Object& event);

/// The message of the newest of these Events about the object with this UID, made printable and cut. "" if none was
/// seen at `since` or later.
std::string newest_message(const std::vector<kube::Object>& events, std::string_view uid, kube::WallTime since);

}  // namespace liqoctl::model
