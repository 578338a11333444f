// Volumes of StorageClass liqo, over a provider whose part the test plays, and Kubernetes' part at home, too.
#pragma once

#include "../offloading_fixture.hpp"
#include "core/storage/volume.hpp"
#include "liqo/api/names.hpp"

namespace liqo::testing {

using namespace std::chrono_literals;
namespace annotations = api::annotations;

inline controllers::Settings with_storage() {
  controllers::Settings settings;
  settings.storage.storage_class = "liqo";
  settings.storage.storage_namespace = "real-claims";
  settings.slices.storage_class = "local";
  return settings;
}

struct Volumes : Offloading {
  Volumes()
      : Offloading({}, with_storage(), [](Offloading& self) {
          self.server.serve(kinds::volumes);
          self.server.serve(kinds::storage_classes);
          kube::Object storage_class = kube::Object::make(kinds::storage_classes, {"", "liqo"});
          storage_class.tree()["provisioner"] = "liqo.io/storage";
          self.apply(kinds::storage_classes, storage_class);
          self.apply(resources::nodes, kube::Object::make(resources::nodes, {"", "rome-1"}));
        }) {
    offer(json::array{json::object{{"storageClassName", "fast"}}});
  }
  void offer(json::array classes) {
    change(kinds::virtual_nodes, {tenant, "milan"}, "",
           [&](json::object& next) { kube::ensure_object(next, "spec")["storageClasses"] = classes; });
    pass(1s);
  }
  /// A claim for which the scheduler has chosen that node.
  kube::Object claim(std::string_view name, std::string_view node, std::string_view remote_class = "") {
    kube::Object made = kube::Object::make(kinds::claims, {shop, std::string(name)});
    made.mutable_spec() = json::object{{"storageClassName", "liqo"},
                                       {"accessModes", json::array{"ReadWriteOnce"}},
                                       {"resources", json::object{{"requests", json::object{{"storage", "1Gi"}}}}}};
    made.set_annotation(annotations::volume_provisioner, api::storage_provisioner);
    made.set_annotation(annotations::selected_node, node);
    if (!remote_class.empty()) made.set_annotation(annotations::remote_storage_class, remote_class);
    return apply(kinds::claims, made);
  }
  std::optional<kube::Object> at_home(std::string_view name) { return find(kinds::claims, {shop, std::string(name)}); }
  std::optional<kube::Object> remote(std::string_view name) { return at_milan(kinds::claims, name); }
  std::optional<kube::Object> volume(const kube::Object& claim) {
    return find(kinds::volumes, {"", core::storage::volume_name(claim)});
  }
  static json::object bound(std::string_view size) {
    return {{"phase", "Bound"},
            {"capacity", json::object{{"storage", size}}},
            {"accessModes", json::array{"ReadWriteOnce"}}};
  }
  void bind_remote(std::string_view name, std::string_view size = "1Gi") {
    (void)milan.update(
        {kinds::claims, {twin, std::string(name)}, "status"}, [&](json::object& next) { next["status"] = bound(size); },
        "milan");
  }
  void bind_at_home(std::string_view name, std::string_view size = "1Gi") {
    change(kinds::claims, {shop, std::string(name)}, "status",
           [&](json::object& next) { next["status"] = bound(size); });
  }
  /// A claim whose volume is at milan, both of them bound.
  kube::Object offloaded(std::string_view name) {
    const kube::Object made = claim(name, "milan");
    REQUIRE(reaches([&] { return remote(name).has_value(); }));
    bind_remote(name);
    REQUIRE(reaches([&] { return volume(made).has_value(); }));
    bind_at_home(name);
    return made;
  }
  void release(const kube::Object& claim) {
    (void)server.remove(kinds::claims, claim.key(), {}, "operator");
    change(kinds::volumes, {"", core::storage::volume_name(claim)}, "status",
           [](json::object& next) { next["status"] = json::object{{"phase", "Released"}}; });
  }
  bool is_held(std::string_view name) { return at_home(name)->has_finalizer(api::finalizers::storage_provisioning); }
  static std::string size_of(const kube::Object& volume) {
    return std::string(kube::string_at(volume.spec(), {"capacity", "storage"}));
  }
};

}  // namespace liqo::testing
