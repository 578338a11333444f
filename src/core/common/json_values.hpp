// Emptiness, members and named entries of JSON values.
// Tested by test/unit/core/offloading/shadow_pod_test.cpp and test/unit/core/offloading/pod_status_test.cpp.
#pragma once

#include <string_view>

#include "kube/base/json.hpp"

namespace liqo::core {

/// Null, and an object, a list or a text with nothing in it: a field with such a value means the same as an absent one.
bool is_empty(const kube::json::value& value);

/// The object in that member, to be changed; null if there is none.
kube::json::object* object_in(kube::json::object& parent, std::string_view key);
/// The list in that member, to be changed; null if there is none.
kube::json::array* array_in(kube::json::object& parent, std::string_view key);

/// Calls `change` for each object in the list of that name. Other entries are passed over: a peer can put anything into
/// a list that its API server does not check.
template <class Change>
void for_each_object(kube::json::object& parent, std::string_view list, Change change) {
  kube::json::array* entries = array_in(parent, list);
  if (!entries) return;
  for (kube::json::value& entry : *entries)
    if (kube::json::object* object = entry.if_object()) change(*object);
}

/// The first object in the list whose `name` is that, e.g. a container; null if there is none.
const kube::json::value* find_named(const kube::json::array& list, std::string_view name);

}  // namespace liqo::core
