#include "controllers/common/is_older.hpp"

#include <doctest/doctest.h>

#include "kube/runtime/store.hpp"

namespace liqo::controllers {
namespace {

kube::Object make(const std::string& name, std::string_view created) {
  kube::Object object = kube::Object::make(kube::resources::config_maps, {"d", name});
  object.mutable_metadata()["creationTimestamp"] = created;
  return object;
}

void add(kube::Store& store, kube::Object object) {
  object.mutable_metadata()["resourceVersion"] = std::to_string(store.size() + 1);
  static_cast<void>(store.put(object));
}

}  // namespace

TEST_CASE("the older of two objects was created first, and of two of one age it is the first by name") {
  const kube::Object old = make("z", "2024-01-01T00:00:00Z"), young = make("a", "2024-01-01T00:00:01Z");
  CHECK(is_older(old, young));
  CHECK_FALSE(is_older(young, old));
  const kube::Object twin = make("b", "2024-01-01T00:00:01Z");
  CHECK(is_older(young, twin));
  CHECK_FALSE(is_older(twin, young));
  CHECK_FALSE(is_older(old, old));
}

TEST_CASE("the oldest object is looked for among those that count") {
  kube::Store store;
  const auto oldest = [&store](std::string_view but) {
    const auto found = oldest_of(store.objects(), [&but](const kube::Object& object) { return object.name() != but; });
    return found ? std::string(found->name()) : std::string("none");
  };
  CHECK(oldest("") == "none");
  add(store, make("a", "2024-01-02T00:00:00Z"));
  add(store, make("m", "2024-01-01T00:00:00Z"));
  add(store, make("z", "2024-01-01T00:00:00Z"));
  CHECK(oldest("") == "m");
  CHECK(oldest("m") == "z");
  CHECK(oldest("z") == "m");
  const auto nothing = oldest_of(store.objects(), [](const kube::Object&) { return false; });
  CHECK_FALSE(nothing.has_value());
}

}  // namespace liqo::controllers
