// Volumes of StorageClass liqo: the objects that are made for a claim, and their end.
#include "kube/testing/tree.hpp"
#include "liqo/api/reasons.hpp"
#include "volumes_fixture.hpp"

namespace liqo::testing {

TEST_CASE_FIXTURE(Volumes, "a remote claim that is bound at once has its volume once it is bound") {
  const kube::Object made = claim("data", "milan");
  REQUIRE(reaches([&] { return remote("data").has_value(); }));
  CHECK(kube::string_at(remote("data")->spec(), {"storageClassName"}) == "fast");
  CHECK(is_held("data"));
  // Its provisioner has taken notice of it: it waits for no pod.
  (void)milan.update(
      {kinds::claims, {twin, "data"}},
      [](json::object& next) { kube::testing::set_annotation(next, annotations::volume_provisioner, "csi"); }, "milan");
  pass(50s);
  CHECK_FALSE(volume(made).has_value());
  CHECK(events(api::reasons::volume_pending).empty());
  pass(30s);
  CHECK(events(api::reasons::volume_pending).size() == 1);
  bind_remote("data", "2Gi");
  REQUIRE(reaches([&] { return volume(made).has_value(); }));
  CHECK(size_of(*volume(made)) == "2Gi");
  CHECK(reaches([&] { return !is_held("data"); }));
}

TEST_CASE_FIXTURE(Volumes, "a remote claim that waits for its first pod has its volume at once") {
  const kube::Object made = claim("data", "milan");
  REQUIRE(reaches([&] { return remote("data").has_value(); }));
  SUBCASE("as its Events say") {
    kube::Object event = kube::Object::make(resources::events, {twin, "waits"});
    event.tree()["involvedObject"] = json::object{{"uid", remote("data")->uid()}};
    event.tree()["reason"] = "WaitForFirstConsumer";
    REQUIRE(milan.create(resources::events, event.tree(), "milan").has_value());
    REQUIRE(reaches([&] { return volume(made).has_value(); }, 5s));
  }
  SUBCASE("as its silence says") {
    REQUIRE(reaches([&] { return volume(made).has_value(); }, 40s));
  }
  // If it is bound with other values than wanted, it is corrected.
  bind_at_home("data");
  bind_remote("data", "3Gi");
  REQUIRE(reaches([&] { return size_of(*volume(made)) == "3Gi"; }));
  CHECK(reaches([&] { return kube::string_at(at_home("data")->status(), {"capacity", "storage"}) == "3Gi"; }));
  CHECK(events(api::reasons::volume_resized).size() == 1);
}

TEST_CASE_FIXTURE(Volumes, "a volume that is not bound is told of, also while nobody can say which pods use it") {
  const kube::Object made = claim("data", "milan");
  REQUIRE(reaches([&] { return volume(made).has_value(); }, 40s));
  SUBCASE("but not where no pod uses it") {
    pass(5min);
    CHECK(events(api::reasons::volume_pending).empty());
    return;
  }
  refuses = [](const kube::HttpRequest& request) -> std::string {
    return request.method == "GET" && request.target.starts_with("/api/v1/namespaces/shop/pods") ? "no" : "";
  };
  pass(5min);
  CHECK_FALSE(events(api::reasons::volume_pending).empty());
}

TEST_CASE_FIXTURE(Volumes, "the pods of a claim are told what it waits for, and that it got what it did not ask for") {
  kube::Object pod = kube::Object::make(resources::pods, {shop, "db"});
  pod.mutable_spec() = json::object{
      {"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}},
      {"volumes",
       json::array{json::object{{"name", "data"}, {"persistentVolumeClaim", json::object{{"claimName", "data"}}}}}}};
  apply(resources::pods, pod);
  const auto told = [&](std::string_view reason) {
    std::vector<std::string> messages;
    for (const auto& event : server.list(resources::events))
      if (kube::string_at(*event, {"reason"}) == reason && kube::string_at(*event, {"involvedObject", "kind"}) == "Pod")
        messages.emplace_back(kube::string_at(*event, {"message"}));
    return messages;
  };
  const kube::Object made = claim("data", "milan");
  REQUIRE(reaches([&] { return remote("data").has_value(); }));
  (void)milan.update(
      {kinds::claims, {twin, "data"}},
      [](json::object& next) { kube::testing::set_annotation(next, annotations::volume_provisioner, "csi"); }, "milan");
  REQUIRE(reaches([&] { return !told(api::reasons::volume_pending).empty(); }, 90s));
  CHECK(told(api::reasons::volume_pending) ==
        std::vector<std::string>{"PersistentVolumeClaim data: the claim shop-rome/data in cluster milan, which is to "
                                 "hold the data, is not bound after 60 s: its Events there say why"});
  (void)milan.update(
      {kinds::claims, {twin, "data"}, "status"},
      [](json::object& next) {
        next["status"] = bound("1Gi");
        next["status"].as_object()["accessModes"] = json::array{"ReadOnlyMany"};
      },
      "milan");
  REQUIRE(reaches([&] { return !told(api::reasons::volume_differs).empty(); }));
  CHECK(told(api::reasons::volume_differs) ==
        std::vector<std::string>{
            "PersistentVolumeClaim data: the volume in cluster milan cannot be used as ReadWriteOnce"});
  bind_remote("data", "3Gi");
  bind_at_home("data");
  REQUIRE(reaches([&] { return !told(api::reasons::volume_resized).empty(); }));
  CHECK(told(api::reasons::volume_resized) ==
        std::vector<std::string>{"PersistentVolumeClaim data: the volume in cluster milan has 3Gi, not 1Gi"});
}

TEST_CASE_FIXTURE(Volumes, "a claim for a node of this cluster gets what a real claim gets") {
  const kube::Object made = claim("data", "rome-1");
  const kube::ObjectKey real{"real-claims", std::string(made.uid())};
  REQUIRE(reaches([&] { return has(kinds::claims, real); }));
  CHECK(find(resources::namespaces, {"", "real-claims"})->label(api::labels::storage_provisioner) == "true");
  CHECK(kube::string_at(find(kinds::claims, real)->spec(), {"storageClassName"}) == "local");
  CHECK_FALSE(remote("data").has_value());
  kube::Object source = kube::Object::make(kinds::volumes, {"", "real"});
  source.mutable_spec() = json::object{{"hostPath", json::object{{"path", "/data"}}}};
  apply(kinds::volumes, source);
  change(kinds::claims, real, "", [](json::object& next) { kube::ensure_object(next, "spec")["volumeName"] = "real"; });
  change(kinds::claims, real, "status", [](json::object& next) { next["status"] = bound("1Gi"); });
  REQUIRE(reaches([&] { return volume(made).has_value(); }));
  CHECK(kube::string_at(volume(made)->spec(), {"hostPath", "path"}) == "/data");
  release(made);
  CHECK(reaches([&] { return !volume(made) && !has(kinds::claims, real); }));
}

TEST_CASE_FIXTURE(Volumes, "no data goes into a namespace of somebody else") {
  kube::Object taken = kube::Object::make(resources::namespaces, {"", "real-claims"});
  SUBCASE("that a user has made") {}
  SUBCASE("that is a consumer's twin") {
    taken.set_label(api::labels::storage_provisioner, "true");
    taken.set_annotation(annotations::managed_by_namespace_map, "liqo-tenant-turin/rome");
  }
  apply(resources::namespaces, taken);
  const kube::Object made = claim("data", "rome-1");
  REQUIRE(reaches([&] { return !events(api::reasons::provisioning_failed).empty(); }));
  CHECK(events(api::reasons::provisioning_failed).front().contains("was not made for it"));
  CHECK_FALSE(has(kinds::claims, {"real-claims", std::string(made.uid())}));
  CHECK_FALSE(is_held("data"));
  // Given to it, it is used.
  change(resources::namespaces, taken.key(), "", [](json::object& next) {
    json::object& metadata = kube::ensure_object(next, "metadata");
    metadata.erase("annotations");
    kube::ensure_object(metadata, "labels")[api::labels::storage_provisioner] = "true";
  });
  CHECK(reaches([&] { return has(kinds::claims, {"real-claims", std::string(made.uid())}); }));
}

TEST_CASE_FIXTURE(Volumes, "a claim that goes while its provider is looked at leaves nothing there") {
  bool is_asked = false;
  refuse = [&](const kube::HttpRequest& request) {
    if (request.verb == "get" && request.resource == "persistentvolumeclaims") {
      is_asked = true;
      (void)server.remove(kinds::claims, {shop, "data"}, {}, "operator");
    }
    return std::string();
  };
  (void)claim("data", "milan");
  REQUIRE(reaches([&] { return is_asked; }));
  pass(30s);
  CHECK_FALSE(remote("data").has_value());
}

TEST_CASE_FIXTURE(Volumes, "a claim that has a volume since its provider was asked gets no second one") {
  kube::Object made;
  bool is_bound = false, has_volume = false;
  SUBCASE("the volume is there") {}
  SUBCASE("it is bound to the claim") { is_bound = true; }
  refuse = [&](const kube::HttpRequest& request) {
    if (request.resource != "persistentvolumeclaims") return std::string();
    if (request.verb == "create") return std::string(has_volume ? "" : "not yet");
    // The claim is held, and nothing is behind it.
    if (request.verb != "get" || !is_held("data") || std::exchange(has_volume, true)) return std::string();
    const core::storage::Backing recorded{.cluster = "milan", .key = {twin, "data"}, .uid = "gone"};
    apply(kinds::volumes, core::storage::forge_volume(made, *find(kinds::storage_classes, {"", "liqo"}),
                                                      {.recorded = recorded, .claim = made, .volume = nullptr}));
    if (is_bound)
      change(kinds::claims, {shop, "data"}, "", [&](json::object& next) {
        kube::ensure_object(next, "spec")["volumeName"] = core::storage::volume_name(made);
      });
    return std::string();
  };
  made = claim("data", "milan");
  REQUIRE(reaches([&] { return has_volume; }, 10min));
  CHECK(reaches([&] { return !events(api::reasons::volume_lost).empty(); }, 10min));
  CHECK_FALSE(remote("data").has_value());
}

TEST_CASE_FIXTURE(Volumes, "a claim whose volume is lost gets it back with its data, or no other one") {
  const kube::Object made = offloaded("data");
  change(kinds::claims, made.key(), "", [&](json::object& next) {
    kube::ensure_object(next, "spec")["volumeName"] = core::storage::volume_name(made);
  });
  SUBCASE("the claim behind it is there") {
    (void)server.remove(kinds::volumes, {"", core::storage::volume_name(made)}, {}, "operator");
    CHECK(reaches([&] { return volume(made).has_value(); }, 10min));
    CHECK(core::storage::backing_of(*volume(made))->uid == remote("data")->uid());
  }
  SUBCASE("the data is gone") {
    (void)milan.remove(kinds::claims, {twin, "data"}, {}, "milan");
    (void)server.remove(kinds::volumes, {"", core::storage::volume_name(made)}, {}, "operator");
    CHECK(reaches([&] { return !events(api::reasons::volume_lost).empty(); }, 10min));
    pass(10min);
    CHECK_FALSE(volume(made).has_value());
    CHECK_FALSE(remote("data").has_value());
  }
}

TEST_CASE_FIXTURE(Volumes, "a volume that the Go version has made goes on as it is") {
  const kube::Object made = claim("data", "milan");
  REQUIRE(reaches([&] { return remote("data").has_value(); }));
  kube::Object theirs = kube::Object::make(kinds::volumes, {"", core::storage::volume_name(made)});
  theirs.set_annotation(annotations::provisioned_by, api::storage_provisioner);
  theirs.mutable_spec()["claimRef"] = json::object{{"namespace", shop}, {"name", "data"}, {"uid", made.uid()}};
  SUBCASE("without a word") {
    apply(kinds::volumes, theirs);
    pass(2min);
    CHECK(events(api::reasons::provisioning_failed).empty());
  }
  SUBCASE("and one of somebody else is told of") {
    theirs.set_annotation(annotations::provisioned_by, "csi.example.org");
    apply(kinds::volumes, theirs);
    CHECK(reaches([&] { return !events(api::reasons::provisioning_failed).empty(); }));
  }
}

TEST_CASE_FIXTURE(Volumes, "the data goes with the claim, or stays where that is wanted") {
  const kube::Object made = offloaded("data");
  SUBCASE("Delete") {
    release(made);
    CHECK(reaches([&] { return !volume(made) && !remote("data"); }));
  }
  SUBCASE("Retain") {
    change(kinds::volumes, {"", core::storage::volume_name(made)}, "",
           [](json::object& next) { kube::ensure_object(next, "spec")["persistentVolumeReclaimPolicy"] = "Retain"; });
    release(made);
    pass(2min);
    CHECK(volume(made).has_value());
    CHECK(remote("data").has_value());
  }
  SUBCASE("a claim that the volume only names stays") {
    kube::Object other = kube::Object::make(kinds::claims, {twin, "other"});
    REQUIRE(milan.create(kinds::claims, other.tree(), "milan").has_value());
    change(kinds::volumes, {"", core::storage::volume_name(made)}, "", [&](json::object& next) {
      json::object& notes = kube::testing::ensure_path(next, {"metadata", "annotations"});
      notes[annotations::backing_claim] = twin + "/other";
      notes[annotations::backing_claim_uid] = json::string(remote("other")->uid());
    });
    release(made);
    CHECK(reaches([&] { return !events(api::reasons::volume_delete_failed).empty(); }));
    CHECK(remote("other").has_value());
    CHECK(volume(made).has_value());
  }
  SUBCASE("what has taken the name meanwhile stays") {
    (void)milan.remove(kinds::claims, {twin, "data"}, {}, "milan");
    kube::Object other = kube::Object::make(kinds::claims, {twin, "data"});
    REQUIRE(milan.create(kinds::claims, other.tree(), "milan").has_value());
    release(made);
    CHECK(reaches([&] { return !volume(made); }));
    CHECK(remote("data").has_value());
  }
}

TEST_CASE_FIXTURE(Volumes, "where the twin is gone, and our rights in it, so is the data") {
  const kube::Object kept = offloaded("kept"), made = offloaded("data");
  refuse = [](const kube::HttpRequest& request) {
    return std::string(request.resource == "persistentvolumeclaims" ? "no rights" : "");
  };
  release(made);
  pass(30s);
  CHECK(volume(made).has_value());
  CHECK_FALSE(events(api::reasons::volume_delete_failed).empty());
  map_twin("");
  CHECK(reaches([&] { return !volume(made); }, 5min));
  CHECK(reaches([&] { return !events(api::reasons::volume_lost).empty(); }, 10min));
  CHECK(volume(kept).has_value());
}

TEST_CASE_FIXTURE(Volumes, "a claim that goes before it has a volume leaves nothing behind") {
  const kube::Object made = claim("data", "milan");
  REQUIRE(reaches([&] { return remote("data").has_value(); }));
  (void)server.remove(kinds::claims, made.key(), {}, "operator");
  CHECK(reaches([&] { return !remote("data") && !at_home("data"); }));
}

TEST_CASE_FIXTURE(Volumes, "what is made late behind a claim that goes does not stay") {
  std::optional<kube::HttpRequest> late;
  outage = [&](const kube::HttpRequest& request) {
    const bool is_first = !late && request.verb == "create" && request.resource == "persistentvolumeclaims";
    if (is_first) late = request;
    return is_first;
  };
  const kube::Object made = claim("data", "milan");
  REQUIRE(reaches([&] { return late.has_value(); }));
  SUBCASE("before it has its volume") {
    (void)server.remove(kinds::claims, made.key(), {}, "operator");
    pass(1min);
    (void)milan.handle(*late, "late");
    REQUIRE(remote("data").has_value());
  }
  SUBCASE("before it has its volume, by an earlier process") {
    stop();
    (void)server.remove(kinds::claims, made.key(), {}, "operator");
    start(with_storage());
    pass(1min);
    (void)milan.handle(*late, "late");
    REQUIRE(remote("data").has_value());
  }
  SUBCASE("with its volume") {
    REQUIRE(reaches([&] { return remote("data").has_value(); }));
    bind_remote("data");
    REQUIRE(reaches([&] { return volume(made).has_value(); }));
    bind_at_home("data");
    release(made);
    pass(30s);
    (void)milan.handle(*late, "late");
    CHECK(volume(made).has_value());
  }
  CHECK(reaches([&] { return !remote("data") && !at_home("data") && !volume(made); }));
}

TEST_CASE_FIXTURE(Volumes, "a volume stays where it was begun, and goes there, whatever node is written on its claim") {
  const kube::Object made = claim("data", "milan");
  REQUIRE(reaches([&] { return remote("data").has_value(); }));
  const kube::ObjectKey real{"real-claims", std::string(made.uid())};
  SUBCASE("another node") {
    change(kinds::claims, made.key(), "",
           [](json::object& next) { kube::testing::set_annotation(next, annotations::selected_node, "rome-1"); });
    pass(10s);
    CHECK_FALSE(has(kinds::claims, real));
    (void)server.remove(kinds::claims, made.key(), {}, "operator");
    CHECK(reaches([&] { return !remote("data") && !at_home("data"); }));
  }
  SUBCASE("the record is written over, too") {
    change(kinds::claims, made.key(), "",
           [](json::object& next) { kube::testing::set_annotation(next, annotations::backing_cluster, ""); });
    pass(10s);
    CHECK_FALSE(has(kinds::claims, real));
    (void)server.remove(kinds::claims, made.key(), {}, "operator");
    CHECK(reaches([&] { return !remote("data") && !at_home("data"); }));
  }
  SUBCASE("the virtual node has gone") {
    (void)server.remove(kinds::virtual_nodes, {tenant, "milan"}, {}, "operator");
    REQUIRE(reaches([&] { return !has(kinds::virtual_nodes, {tenant, "milan"}); }, 5min));
    pass(1min);
    CHECK_FALSE(has(kinds::claims, real));
    CHECK_FALSE(events(api::reasons::provisioning_failed).empty());
  }
}

TEST_CASE_FIXTURE(Volumes, "a claim takes the volume that is given to it, with its data") {
  const kube::Object copy = [&] {
    kube::Object made = claim("copy", "milan");
    change(kinds::claims, made.key(), "",
           [](json::object& next) { kube::testing::set_annotation(next, annotations::moves_claim, "data"); });
    return made;
  }();
  REQUIRE(reaches([&] { return remote("data").has_value(); }));
  CHECK_FALSE(remote("copy").has_value());
  bind_remote("data");
  REQUIRE(reaches([&] { return volume(copy).has_value(); }));
  bind_at_home("copy");
  const std::string data(remote("data")->uid()), free = core::storage::volume_name(copy);
  const auto change_volume = [&](std::string_view given_to, std::string_view policy) {
    change(kinds::volumes, {"", free}, "", [&](json::object& next) {
      kube::testing::set_annotation(next, annotations::given_to, given_to);
      kube::ensure_object(next, "spec")["persistentVolumeReclaimPolicy"] = policy;
    });
  };
  const auto taking = [&] {
    kube::Object made = kube::Object::make(kinds::claims, {shop, "data"});
    made.mutable_spec() = copy.spec();
    made.set_annotation(annotations::volume_provisioner, api::storage_provisioner);
    made.set_annotation(annotations::selected_node, "milan");
    made.set_annotation(annotations::takes_volume, free);
    return apply(kinds::claims, made);
  };
  SUBCASE("once it is free") {
    change_volume(std::string(shop) + "/data", "Retain");
    const kube::Object made = taking();
    REQUIRE(reaches([&] { return !events(api::reasons::provisioning_failed).empty(); }));
    CHECK_FALSE(volume(made).has_value());
    release(copy);
    REQUIRE(reaches([&] { return volume(made).has_value(); }, 60s));
    CHECK(core::storage::backing_of(*volume(made))->uid == data);
    CHECK(remote("data")->uid() == data);
    CHECK(remote("data")->annotation(annotations::virtual_claim_uid) == made.uid());
    // The volume from which it was taken can be removed; its data belongs to the claim.
    (void)server.remove(kinds::volumes, {"", free}, {}, "operator");
    pass(30s);
    bind_at_home("data");
    CHECK(remote("data").has_value());
    // It stays, whatever its class says, until the user who gave it away decides about it.
    CHECK(kube::string_at(volume(made)->spec(), {"persistentVolumeReclaimPolicy"}) == "Retain");
    change(kinds::volumes, {"", core::storage::volume_name(made)}, "",
           [](json::object& next) { kube::ensure_object(next, "spec")["persistentVolumeReclaimPolicy"] = "Delete"; });
    release(made);
    CHECK(reaches([&] { return !volume(made) && !remote("data"); }));
  }
  SUBCASE("and no other one, nor an empty one") {
    change_volume(std::string(shop) + "/other", "Retain");
    release(copy);
    const kube::Object made = taking();
    REQUIRE(reaches([&] { return !events(api::reasons::provisioning_failed).empty(); }));
    pass(60s);
    CHECK_FALSE(volume(made).has_value());
    CHECK(remote("data")->annotation(annotations::virtual_claim_uid) == copy.uid());
  }
}

TEST_CASE_FIXTURE(Volumes, "no volume is made for a node that there is not") {
  const kube::Object made = claim("data", "rome-2");
  const kube::ObjectKey real{"real-claims", std::string(made.uid())};
  REQUIRE(reaches([&] { return !events(api::reasons::provisioning_failed).empty(); }));
  CHECK_FALSE(has(kinds::claims, real));
  apply(resources::nodes, kube::Object::make(resources::nodes, {"", "rome-2"}));
  CHECK(reaches([&] { return has(kinds::claims, real); }));
}

TEST_CASE_FIXTURE(Volumes, "a volume grows with its claim") {
  const kube::Object made = offloaded("data");
  change(kinds::claims, made.key(), "", [](json::object& next) {
    kube::ensure_object(next, "spec")["resources"] = json::object{{"requests", json::object{{"storage", "5Gi"}}}};
  });
  REQUIRE(
      reaches([&] { return kube::string_at(remote("data")->spec(), {"resources", "requests", "storage"}) == "5Gi"; }));
  bind_remote("data", "5Gi");
  CHECK(reaches([&] { return kube::string_at(at_home("data")->status(), {"capacity", "storage"}) == "5Gi"; }));
  CHECK(size_of(*volume(made)) == "5Gi");
}

TEST_CASE_FIXTURE(Volumes, "a class that is not offered is told, and another node is chosen where none is") {
  (void)claim("data", "milan", "gold");
  REQUIRE(reaches([&] { return !events(api::reasons::provisioning_failed).empty(); }));
  CHECK(events(api::reasons::provisioning_failed).front().contains("does not offer the class \"gold\""));
  CHECK_FALSE(remote("data").has_value());
  offer({});
  CHECK(reaches([&] { return !at_home("data")->has_annotation(annotations::selected_node); }));
  CHECK_FALSE(events(api::reasons::rescheduling_required).empty());
}

TEST_CASE_FIXTURE(Volumes, "a volume that the Go version has made is taken over with its data") {
  kube::Object behind = kube::Object::make(kinds::claims, {twin, "data"});
  behind.set_label(api::labels::reflection_origin, "rome");
  behind.set_label(api::labels::reflection_destination, "milan");
  bool is_ours = true;
  SUBCASE("and followed") {}
  SUBCASE("but not with a claim of somebody else") {
    is_ours = false;
    behind.set_label(api::labels::reflection_origin, "turin");
  }
  REQUIRE(milan.create(kinds::claims, behind.tree(), "milan").has_value());
  bind_remote("data");
  kube::Object front = kube::Object::make(kinds::claims, {shop, "data"});
  front.mutable_spec() = json::object{{"storageClassName", "liqo"}, {"accessModes", json::array{"ReadWriteOnce"}}};
  front.set_annotation(annotations::selected_node, "milan");
  const kube::Object made = apply(kinds::claims, front);
  bind_at_home("data");
  kube::Object volume_of_go = kube::Object::make(kinds::volumes, {"", core::storage::volume_name(made)});
  volume_of_go.set_annotation(annotations::provisioned_by, api::storage_provisioner);
  volume_of_go.mutable_spec() = json::object{
      {"capacity", json::object{{"storage", "1Gi"}}},
      {"accessModes", json::array{"ReadWriteOnce"}},
      {"persistentVolumeReclaimPolicy", "Delete"},
      {"claimRef", json::object{{"namespace", shop}, {"name", "data"}, {"uid", made.uid()}}},
      {"hostPath", json::object{{"path", "/tmp/liqo-placeholder"}}},
      {"nodeAffinity",
       json::object{
           {"required",
            json::object{{"nodeSelectorTerms",
                          json::array{json::object{
                              {"matchExpressions", json::array{json::object{{"key", api::labels::remote_cluster_id},
                                                                            {"operator", "In"},
                                                                            {"values", json::array{"milan"}}}}}}}}}}}}};
  apply(kinds::volumes, volume_of_go);
  if (!is_ours) {
    CHECK(reaches([&] { return !events(api::reasons::volume_lost).empty(); }));
    release(made);
    pass(10s);
    CHECK(remote("data").has_value());
    return;
  }
  REQUIRE(reaches([&] { return volume(made)->has_annotation(annotations::backing_claim); }));
  CHECK(volume(made)->annotation(annotations::backing_claim_uid) == remote("data")->uid());
  CHECK(volume(made)->annotation(annotations::backing_cluster) == "milan");
  CHECK(remote("data")->annotation(annotations::virtual_claim_uid) == made.uid());
  CHECK(at_home("data")->annotation(annotations::backing_cluster) == "milan");
  CHECK(events(api::reasons::provisioning_failed).empty());
  bind_remote("data", "3Gi");
  CHECK(reaches([&] { return size_of(*volume(made)) == "3Gi"; }, 10min));
  release(made);
  CHECK(reaches([&] { return !remote("data"); }));
  CHECK(reaches([&] { return !volume(made); }));
}

TEST_CASE_FIXTURE(Volumes, "a claim that is applied anew after a restore finds its data, unless that is another's") {
  const kube::Object before = offloaded("data");
  const std::string uid(remote("data")->uid());
  stop();
  // The database is that of a time before the claim.
  change(kinds::claims, before.key(), "",
         [](json::object& next) { next["metadata"].as_object()["finalizers"] = json::array(); });
  (void)server.remove(kinds::claims, before.key(), {}, "restore");
  SUBCASE("nothing at home stands for the data") {
    (void)server.remove(kinds::volumes, {"", core::storage::volume_name(before)}, {}, "restore");
    start(with_storage());
    const kube::Object made = claim("data", "milan");
    REQUIRE(made.uid() != before.uid());
    REQUIRE(reaches([&] { return volume(made).has_value(); }));
    CHECK(remote("data")->uid() == uid);
    CHECK(remote("data")->annotation(annotations::virtual_claim_uid) == made.uid());
    CHECK(volume(made)->annotation(annotations::backing_claim_uid) == uid);
  }
  SUBCASE("a retained volume does") {
    change(kinds::volumes, {"", core::storage::volume_name(before)}, "",
           [](json::object& next) { kube::ensure_object(next, "spec")["persistentVolumeReclaimPolicy"] = "Retain"; });
    start(with_storage());
    const kube::Object made = claim("data", "milan");
    REQUIRE(reaches([&] { return !events(api::reasons::provisioning_failed).empty(); }));
    CHECK_FALSE(volume(made).has_value());
    CHECK(remote("data")->annotation(annotations::virtual_claim_uid) == before.uid());
  }
}

TEST_CASE_FIXTURE(Volumes, "a claim of somebody else is not taken") {
  kube::Object other = kube::Object::make(kinds::claims, {twin, "data"});
  REQUIRE(milan.create(kinds::claims, other.tree(), "milan").has_value());
  bind_remote("data");
  const kube::Object made = claim("data", "milan");
  REQUIRE(reaches([&] { return !events(api::reasons::provisioning_failed).empty(); }));
  CHECK_FALSE(volume(made).has_value());
  (void)server.remove(kinds::claims, made.key(), {}, "operator");
  CHECK(reaches([&] { return !at_home("data"); }));
  CHECK(remote("data").has_value());
}

TEST_CASE("an ephemeral volume of class liqo is for the pod in milan the claim that was made for it") {
  Volumes world;
  world.offloaded("web-data");
  bool is_ours = true;
  SUBCASE("it was made for the pod") {}
  SUBCASE("it has only the name") { is_ours = false; }
  kube::Object pod = kube::Object::make(resources::pods, {shop, "web"});
  const auto volume = [](std::string_view name, std::string_view storage_class) -> json::value {
    json::object spec{{"storageClassName", storage_class}, {"accessModes", json::array{"ReadWriteOnce"}}};
    json::object claim{{"volumeClaimTemplate", json::object{{"spec", std::move(spec)}}}};
    return json::object{{"name", name}, {"ephemeral", std::move(claim)}};
  };
  pod.mutable_spec() = json::object{{"nodeName", "milan"},
                                    {"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}},
                                    {"volumes", json::array{volume("data", "liqo"), volume("other", "fast")}}};
  const kube::Object stored = world.apply(resources::pods, pod);
  if (is_ours)
    world.change(kinds::claims, {shop, "web-data"}, "", [&](json::object& next) {
      kube::ensure_object(next, "metadata")["ownerReferences"] = json::array{json::object{
          {"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "web"}, {"uid", stored.uid()}, {"controller", true}}};
    });
  if (!is_ours) {
    REQUIRE(world.reaches([&] {
      return world.condition("web", api::offloaded_condition, "message").contains("was not made for the pod");
    }));
    world.pass(5min);
    CHECK_FALSE(world.at_milan(kinds::shadow_pods, "web"));
    CHECK(world.events("FailedReflection").size() == 1);
    return;
  }
  REQUIRE(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web").has_value(); }));
  const auto shadow = world.at_milan(kinds::shadow_pods, "web");
  const json::array& volumes = kube::array_at(shadow->spec(), {"pod", "volumes"});
  REQUIRE(volumes.size() == 2);
  CHECK(kube::string_at(volumes[0], {"persistentVolumeClaim", "claimName"}) == "web-data");
  CHECK_FALSE(kube::find(volumes[0], {"ephemeral"}));
  CHECK(kube::string_at(volumes[1], {"ephemeral", "volumeClaimTemplate", "spec", "storageClassName"}) == "fast");
  world.pass(10s);
  CHECK(world.events("OffloadingNotReflected").empty());
}

}  // namespace liqo::testing
