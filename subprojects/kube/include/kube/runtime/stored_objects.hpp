// The objects of a cache, one after the other, for a range-based for.
// Tested by test/runtime/store_test.cpp.
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

#include "kube/k8s/object.hpp"

namespace kube {

class Store;

/// Objects that were in a store when this was asked for: each is parsed when its turn comes, and left out if it has
/// gone by then. The loop over them may take them (`std::move`) and may change the store, but must not suspend, because
/// it looks into the store.
class StoredObjects {
 public:
  StoredObjects(const Store& store, std::vector<ObjectKey> keys) : store_(&store), keys_(std::move(keys)) {}

  class Iterator {
   public:
    using value_type = Object;
    using difference_type = std::ptrdiff_t;
    explicit Iterator(const StoredObjects& objects) : objects_(&objects) { find(); }
    Object& operator*() const { return *object_; }
    Object* operator->() const { return &*object_; }
    Iterator& operator++() {
      ++at_;
      find();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !object_; }

   private:
    void find();
    const StoredObjects* objects_;
    std::size_t at_ = 0;
    mutable std::optional<Object> object_;
  };

  Iterator begin() const { return Iterator(*this); }
  static std::default_sentinel_t end() { return {}; }

 private:
  const Store* store_;
  std::vector<ObjectKey> keys_;
};

}  // namespace kube
