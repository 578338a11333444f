// What Events say of an object.
#pragma once

#include <string>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// When the Event was last seen, as it says itself.
std::string_view last_seen(const kube::Object& event);

/// The message of the newest of them about the object with this UID, fit to be shown; "" where none was seen at `since`
/// or later.
std::string newest_message(const std::vector<kube::Object>& events, std::string_view uid, kube::WallTime since);

}  // namespace liqoctl::model
