// Looks up what is remembered of an object as long as it exists.
// Tested by test/unit/controllers/offloading/remembered_pods_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "kube/k8s/resource.hpp"

namespace liqo::controllers {

/// What is remembered of the object with this key and UID; what was remembered of an earlier object with the key is
/// dropped.
template <class Memory>
Memory& memory_of(std::unordered_map<kube::ObjectKey, Memory>& known, const kube::ObjectKey& key,
                  std::string_view uid) {
  Memory& memory = known[key];
  if (memory.uid != uid) memory = Memory{.uid = std::string(uid)};
  return memory;
}

}  // namespace liqo::controllers
