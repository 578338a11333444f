// Create, replace, delete and their conflicts, as a kube-apiserver 1.35 answers them.
#include "fixture.hpp"

using namespace kube;
using namespace kube::testing;
using namespace std::chrono_literals;

TEST_CASE("a created pod gets identity, time, defaults and a pending status, whatever the client sent") {
  Fixture f;
  json::object sent = Fixture::pod("a");
  sent["status"] = json::object{{"phase", "Running"}};
  sent["metadata"].as_object()["uid"] = "mine";
  sent["metadata"].as_object()["creationTimestamp"] = nullptr;
  const Said made = f.create(resources::pods, sent);
  CHECK(made.code == 201);
  CHECK(made.text({"metadata", "uid"}).size() == 36);
  CHECK(made.text({"metadata", "creationTimestamp"}) == "2026-01-01T00:00:00Z");
  CHECK(made.text({"status", "phase"}) == "Pending");
  CHECK(made.text({"status", "qosClass"}) == "BestEffort");
  CHECK(made.text({"spec", "restartPolicy"}) == "Always");
  CHECK(int_at(made.body, {"metadata", "generation"}) == 1);
  CHECK(f.get(resources::pods, "a").body == made.body);
}

TEST_CASE("a custom kind with the plural of a built-in one is treated as any other custom kind") {
  Fixture f;
  for (const char* plural : {"nodes", "namespaces", "pods", "serviceaccounts", "certificatesigningrequests"}) {
    CAPTURE(plural);
    const Resource kind{"example.io", "v1", plural, "Other"};
    f.server.serve(kind);
    const json::object sent{{"metadata", json::object{{"name", "a"}, {"namespace", "d"}}},
                            {"status", json::object{{"phase", "Ready"}}}};
    const Said made = f.create(kind, sent);
    CHECK(made.code == 201);
    CHECK_FALSE(find(made.body, {"status"}));
    const ObjectKey key{"d", "a"};
    for (const char* subresource : {"binding", "eviction", "token"})
      CHECK(f.ask(request::create_subresource(kind, key, subresource, "{}")).code == 404);
    CHECK(f.ask(request::get(kind, key, "approval")).code == 404);
    CHECK(f.get(kind, "a").code == 200);
    CHECK(f.remove(kind, "a").text({"status"}) == "Success");
  }
}

TEST_CASE("what is immutable of ConfigMaps and Secrets, and the type of a Secret, stays") {
  Fixture f;
  const ObjectKey key{"d", "x"};
  const auto make = [&](const Resource& kind, json::object rest) {
    rest["metadata"] = json::object{{"name", key.name}, {"namespace", key.ns}};
    REQUIRE(f.server.create(kind, std::move(rest), "user"));
  };
  const auto set = [&](const Resource& kind, std::string_view field, json::value value) {
    return f.server.update({kind, key}, [&](json::object& next) { next[field] = value; }, "user").has_value();
  };
  make(resources::config_maps, {{"data", json::object{{"k", "a"}}}});
  CHECK(set(resources::config_maps, "data", json::object{{"k", "b"}}));
  CHECK(set(resources::config_maps, "immutable", true));
  CHECK_FALSE(set(resources::config_maps, "data", json::object{{"k", "c"}}));
  CHECK_FALSE(set(resources::config_maps, "immutable", false));
  make(resources::secrets, {{"data", json::object{{"k", "YQ=="}}}});
  CHECK(set(resources::secrets, "type", "Opaque"));
  CHECK_FALSE(set(resources::secrets, "type", "example.com/key"));
}

TEST_CASE("creates that cannot be are refused") {
  Fixture f;
  f.create(resources::pods, Fixture::pod("a"));
  struct Case {
    const char* title;
    const char* patch;
    int code;
    const char* reason;
  };
  const Case cases[] = {
      {"the name is taken", R"({"metadata":{"name":"a"}})", 409, "AlreadyExists"},
      {"there is no name", R"({"metadata":{"name":null}})", 422, "Invalid"},
      {"the name is not a DNS name", R"({"metadata":{"name":"A_b"}})", 422, "Invalid"},
      {"it has a version", R"({"metadata":{"name":"b","resourceVersion":"7"}})", 400, "BadRequest"},
      {"it is of another kind", R"({"kind":"Node","metadata":{"name":"b"}})", 400, "BadRequest"},
      {"a pod has no container", R"({"metadata":{"name":"b"},"spec":{"containers":[]}})", 422, "Invalid"},
      {"a label value is too long",
       R"({"metadata":{"name":"b","labels":{"k":"0123456789012345678901234567890123456789012345678901234567890123"}}})",
       422, "Invalid"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    json::value sent = Fixture::pod("x");
    if (const json::object change = json::parse(c.patch).as_object(); true)
      for (const auto& [key, value] : change) {
        if (!value.is_object()) {
          sent.as_object()[key] = value;
          continue;
        }
        for (const auto& [inner, leaf] : value.as_object()) sent.as_object()[key].as_object()[inner] = leaf;
      }
    HttpRequest request = request::create(resources::pods, Object(sent.as_object()));
    request.target = "/api/v1/namespaces/d/pods";
    const Said said = f.ask(request);
    CHECK(said.code == c.code);
    CHECK(said.reason() == c.reason);
  }
}

TEST_CASE("generateName is completed, and two pods of one base differ") {
  Fixture f;
  json::object sent = Fixture::pod("");
  sent["metadata"].as_object().erase("name");
  sent["metadata"].as_object()["generateName"] = "web-";
  const Said one = f.create(resources::pods, sent);
  const Said two = f.create(resources::pods, sent);
  CHECK(one.text({"metadata", "name"}).starts_with("web-"));
  CHECK(one.text({"metadata", "name"}).size() == 9);
  CHECK(one.text({"metadata", "name"}) != two.text({"metadata", "name"}));
}

TEST_CASE("a replace with an old version is a conflict, one that changes nothing leaves the version") {
  Fixture f;
  const Said made = f.create(widgets, Fixture::widget("w"));
  json::object next = made.body.as_object();
  next["spec"].as_object()["size"] = 2;
  const Said changed = f.ask(request::replace(widgets, Object(next)));
  CHECK(changed.code == 200);
  CHECK(int_at(changed.body, {"metadata", "generation"}) == 2);
  const Said stale = f.ask(request::replace(widgets, Object(next)));
  CHECK(stale.code == 409);
  CHECK(stale.reason() == "Conflict");
  const Said same = f.ask(request::replace(widgets, Object(changed.body.as_object())));
  CHECK(same.code == 200);
  CHECK(same.version() == changed.version());
  next["metadata"].as_object().erase("resourceVersion");
  CHECK(f.ask(request::replace(widgets, Object(next))).code == 422);
}

TEST_CASE("a status subresource changes the status alone, and the main resource everything else") {
  Fixture f;
  const Said made = f.create(widgets, Fixture::widget("w"));
  json::object next = made.body.as_object();
  next["status"] = json::object{{"phase", "Ready"}};
  next["spec"].as_object()["size"] = 9;
  WriteOptions options;
  options.subresource = "status";
  const Said status = f.ask(request::replace(widgets, Object(next), options));
  CHECK(status.text({"status", "phase"}) == "Ready");
  CHECK(int_at(status.body, {"spec", "size"}) == 1);
  CHECK(int_at(status.body, {"metadata", "generation"}) == 1);
  json::object spec = status.body.as_object();
  spec["spec"].as_object()["size"] = 9;
  spec["status"] = json::object{{"phase", "Lost"}};
  const Said main = f.ask(request::replace(widgets, Object(spec)));
  CHECK(main.text({"status", "phase"}) == "Ready");
  CHECK(int_at(main.body, {"metadata", "generation"}) == 2);
}

TEST_CASE("labels travel through the status of a built-in kind, and not of a custom one") {
  Fixture f;
  f.create(resources::pods, Fixture::pod("a"));
  f.create(widgets, Fixture::widget("a"));
  WriteOptions status;
  status.subresource = "status";
  const std::string body = R"({"metadata":{"labels":{"k":"v"}},"status":{"phase":"Running"}})";
  CHECK(f.patch(resources::pods, "a", {PatchType::merge, body}, status).text({"metadata", "labels", "k"}) == "v");
  CHECK(f.patch(widgets, "a", {PatchType::merge, body}, status).text({"metadata", "labels", "k"}) == "");
}

TEST_CASE("a wrong UID or version is a conflict for every verb that can name one") {
  Fixture f;
  const Said made = f.create(resources::pods, Fixture::pod("a", "node"));
  const char* bodies[] = {R"({"metadata":{"uid":"other","labels":{"k":"v"}}})",
                          R"({"metadata":{"resourceVersion":"1","labels":{"k":"v"}}})"};
  for (const char* body : bodies) {
    CAPTURE(body);
    for (PatchType type : {PatchType::merge, PatchType::strategic_merge}) {
      const Said said = f.patch(resources::pods, "a", {type, body});
      CHECK(said.code == 409);
      CHECK(said.reason() == "Conflict");
    }
  }
  DeleteOptions other_uid, other_version;
  other_uid.uid = "other";
  other_version.resource_version = "1";
  CHECK(f.remove(resources::pods, "a", other_uid).reason() == "Conflict");
  CHECK(f.remove(resources::pods, "a", other_version).reason() == "Conflict");
  DeleteOptions right;
  right.uid = made.text({"metadata", "uid"});
  CHECK(f.remove(resources::pods, "a", right).code == 200);
}

TEST_CASE("a bound pod is deleted with grace, an unbound or finished one at once") {
  struct Case {
    const char* title;
    const char* node;
    const char* phase;
    std::optional<std::int64_t> grace;
    bool stays;
  };
  const Case cases[] = {{"bound", "n", "Running", {}, true},
                        {"not bound", "", "Pending", {}, false},
                        {"finished", "n", "Succeeded", {}, false},
                        {"bound, grace 0", "n", "Running", 0, false},
                        {"bound, grace 5", "n", "Running", 5, true}};
  for (const Case& c : cases) {
    CAPTURE(c.title);
    Fixture f;
    f.create(resources::pods, Fixture::pod("a", c.node));
    WriteOptions status;
    status.subresource = "status";
    f.patch(resources::pods, "a", {PatchType::merge, std::string(R"({"status":{"phase":")") + c.phase + "\"}}"},
            status);
    DeleteOptions options;
    options.grace_period_seconds = c.grace;
    f.remove(resources::pods, "a", options);
    const Said after = f.get(resources::pods, "a");
    CHECK((after.code == 200) == c.stays);
    if (!c.stays) continue;
    CHECK(int_at(after.body, {"metadata", "deletionGracePeriodSeconds"}) == c.grace.value_or(30));
    CHECK(after.text({"metadata", "deletionTimestamp"}) == (c.grace ? "2026-01-01T00:00:05Z" : "2026-01-01T00:00:30Z"));
    DeleteOptions longer, now;
    longer.grace_period_seconds = 60;
    now.grace_period_seconds = 0;
    CHECK(f.remove(resources::pods, "a", longer).version() == after.version());
    CHECK(f.remove(resources::pods, "a", now).code == 200);
    CHECK(f.get(resources::pods, "a").code == 404);
  }
}

TEST_CASE("a deletion whose grace period in the query is no whole number is refused") {
  Fixture f;
  f.create(resources::pods, Fixture::pod("a", "n"));
  for (const char* period : {"abc", "5s", "1.5", "99999999999999999999"}) {
    CAPTURE(period);
    HttpRequest one = request::remove(resources::pods, {"d", "a"});
    HttpRequest all = request::remove_collection(resources::pods, "d", {});
    for (HttpRequest* request : {&one, &all}) {
      request->target += std::string(request->target.contains('?') ? "&" : "?") + "gracePeriodSeconds=" + period;
      CHECK(f.ask(*request).code == 400);
    }
  }
  HttpRequest now = request::remove(resources::pods, {"d", "a"});
  now.target += "?gracePeriodSeconds=5";
  CHECK(int_at(f.ask(now).body, {"metadata", "deletionGracePeriodSeconds"}) == 5);
}

TEST_CASE("a finalizer keeps a deleted object until it is taken off, and no new one can be added") {
  Fixture f;
  json::object sent = Fixture::widget("w");
  sent["metadata"].as_object()["finalizers"] = json::array{"example.io/hold"};
  f.create(widgets, sent);
  f.remove(widgets, "w");
  const Said held = f.get(widgets, "w");
  CHECK(held.code == 200);
  CHECK_FALSE(held.text({"metadata", "deletionTimestamp"}).empty());
  CHECK(
      f.patch(widgets, "w", {PatchType::merge, R"({"metadata":{"finalizers":["example.io/hold","example.io/more"]}})"})
          .code == 422);
  WatchOptions options;
  options.resource_version = held.version();
  auto watch = f.watch(widgets, options);
  CHECK(f.patch(widgets, "w", {PatchType::merge, R"({"metadata":{"finalizers":null}})"}).code == 200);
  CHECK(f.get(widgets, "w").code == 404);
  CHECK(Fixture::events(*watch) == Lines{"DELETED w"});
}

TEST_CASE("dry runs change nothing") {
  Fixture f;
  f.create(widgets, Fixture::widget("w"));
  const std::uint64_t version = f.server.store().version();
  WriteOptions dry;
  dry.dry_run = true;
  CHECK(f.ask(request::create(widgets, Object(Fixture::widget("x")), dry)).code == 201);
  CHECK(f.patch(widgets, "w", {PatchType::merge, R"({"spec":{"size":5}})"}, dry).code == 200);
  DeleteOptions dry_delete;
  dry_delete.dry_run = true;
  CHECK(f.remove(widgets, "w", dry_delete).code == 200);
  CHECK(f.server.store().version() == version);
}

TEST_CASE("of a pod's spec only what the real server allows can change") {
  struct Case {
    const char* title;
    const char* patch;
    int code;
  };
  const Case cases[] = {
      {"the image", R"({"spec":{"containers":[{"name":"c","image":"i:2"}]}})", 200},
      {"a deadline", R"({"spec":{"activeDeadlineSeconds":5}})", 200},
      {"the node", R"({"spec":{"nodeName":"other"}})", 422},
      {"another container", R"({"spec":{"containers":[{"name":"d","image":"i:2"}]}})", 422},
      {"the restart policy", R"({"spec":{"restartPolicy":"Never"}})", 422},
      {"tolerations taken away", R"({"spec":{"tolerations":[]}})", 422},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    Fixture f;
    json::object sent = Fixture::pod("a", "n");
    sent["spec"].as_object()["tolerations"] = json::array{json::object{{"key", "own"}, {"operator", "Exists"}}};
    f.create(resources::pods, sent);
    CHECK(f.patch(resources::pods, "a", {PatchType::strategic_merge, c.patch}).code == c.code);
  }
}

TEST_CASE("a container does not come back from its end where the restart policy forbids it") {
  struct Case {
    const char* policy;
    int exit_code;
    int code;
  };
  for (const Case& c :
       {Case{"Never", 0, 422}, {"Never", 1, 422}, {"OnFailure", 0, 422}, {"OnFailure", 1, 200}, {"Always", 0, 200}}) {
    CAPTURE(c.policy);
    CAPTURE(c.exit_code);
    Fixture f;
    json::object sent = Fixture::pod("a", "n");
    sent["spec"].as_object()["restartPolicy"] = c.policy;
    f.create(resources::pods, sent);
    WriteOptions status;
    status.subresource = "status";
    CHECK(
        f.patch(resources::pods, "a",
                {PatchType::merge, R"({"status":{"containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":)" +
                                       std::to_string(c.exit_code) + "}}}]}}"},
                status)
            .code == 200);
    CHECK(f.patch(resources::pods, "a",
                  {PatchType::merge,
                   R"({"status":{"containerStatuses":[{"name":"c","state":{"running":{"startedAt":"x"}}}]}})"},
                  status)
              .code == c.code);
    CHECK(f.patch(resources::pods, "a", {PatchType::merge, R"({"status":{"qosClass":"Guaranteed"}})"}, status).code ==
          422);
  }
}

TEST_CASE("what is not served answers 404, without a crash") {
  Fixture f;
  for (const char* target :
       {"/api/v1/nothings", "/apis/other.io/v1/namespaces/d/widgets/w", "/", "/api/v2", "/apis/x",
        "/api/v1/namespaces/d/pods/a/log", "/api/v1/pods/a", "/apis/example.io/v1/widgets/w/status/x"}) {
    CAPTURE(target);
    HttpRequest request;
    request.target = target;
    CHECK(f.ask(request).code == 404);
  }
  HttpRequest garbage = request::create(resources::pods, Object(Fixture::pod("a")));
  garbage.body = "{\"a\":";
  CHECK(f.ask(garbage).code == 400);
}

TEST_CASE("deletecollection removes what its selector names") {
  Fixture f;
  for (const char* name : {"a", "b", "c"}) {
    json::object sent = Fixture::widget(name);
    sent["metadata"].as_object()["labels"] = json::object{{"group", name == std::string_view("c") ? "two" : "one"}};
    f.create(widgets, sent);
  }
  Selection selection;
  selection.label_selector = "group=one";
  CHECK(f.ask(request::remove_collection(widgets, "d", selection)).code == 200);
  CHECK(f.server.list(widgets).size() == 1);
}

TEST_CASE("ephemeral containers are added to a pod by a subresource, and never changed") {
  Fixture f;
  json::object early = Fixture::pod("early");
  early["spec"].as_object()["ephemeralContainers"] = json::parse(R"([{"name":"e"}])");
  CHECK(f.create(resources::pods, early).code == 422);
  f.create(resources::pods, Fixture::pod("a"));
  const auto add = [&](std::string_view list, std::string_view subresource = "ephemeralcontainers") {
    return f.patch(
        resources::pods, "a",
        {PatchType::strategic_merge, R"({"spec":{"hostname":"h","ephemeralContainers":)" + std::string(list) + "}}"},
        {.subresource = subresource});
  };
  CHECK(add(R"([{"name":"e","image":"i"}])", "").code == 422);
  const Said added = add(R"([{"name":"e","image":"i"}])");
  CHECK(added.code == 200);
  // Nothing else goes this way, and defaults are filled in.
  CHECK(added.text({"spec", "hostname"}) == "");
  CHECK(string_at(array_at(added.body, {"spec", "ephemeralContainers"}).at(0), {"imagePullPolicy"}) == "Always");
  CHECK(add(R"([{"name":"e","image":"j"}])").code == 422);
  CHECK(add(R"([{"name":"c","image":"i"}])").code == 422);
  CHECK(add(R"([{"name":"p","ports":[]}])").code == 422);
  CHECK(add(R"([{"name":"r","resources":{"limits":{"cpu":"1"}}}])").code == 422);
  CHECK(array_at(add(R"([{"name":"f","image":"i"}])").body, {"spec", "ephemeralContainers"}).size() == 2);
  // What has ended stays so.
  const auto report = [&](std::string_view state) {
    return f.patch(resources::pods, "a",
                   {PatchType::merge, R"({"status":{"ephemeralContainerStatuses":[{"name":"e","state":{")" +
                                          std::string(state) + R"(":{"x":1}}}]}})"},
                   {.subresource = "status"});
  };
  CHECK(report("running").code == 200);
  CHECK(report("terminated").code == 200);
  CHECK(report("running").code == 422);
}

TEST_CASE("admission refuses creates and changes, and is not asked about deletions") {
  Fixture f;
  f.server.manners().admission = [](const FakeReview& asked) -> std::optional<Refusal> {
    if (asked.actor != "test" || int_at(asked.after, {"spec", "size"}) < 5) return std::nullopt;
    return Refusal{403, "Forbidden", asked.before ? "it is too large now" : "it is too large", {}};
  };
  json::object large = Fixture::widget("large");
  large["spec"].as_object()["size"] = 7;
  CHECK(f.create(widgets, large).text({"message"}) == "it is too large");
  CHECK(f.create(widgets, Fixture::widget("small")).code == 201);
  CHECK(f.patch(widgets, "small", {PatchType::merge, R"({"spec":{"size":9}})"}).text({"message"}) ==
        "it is too large now");
  CHECK(f.patch(widgets, "small", {PatchType::merge, R"({"spec":{"size":2}})"}).code == 200);
  CHECK(f.server.create(widgets, large, "user").has_value());
  CHECK(f.remove(widgets, "large").code == 200);
}

TEST_CASE("managedFields say who has updated an object since it was applied, and when") {
  Fixture f;
  f.server.manners().manager_times = true;
  const auto apply = [&](int size) {
    json::object object = Fixture::widget("w");
    object["spec"].as_object()["size"] = size;
    return f.patch(widgets, "w", {PatchType::apply, json::serialize(object), true}, {.field_manager = "us"});
  };
  const auto managers = [](const Said& said) {
    std::string text;
    for (const json::value& entry : array_at(said.body, {"metadata", "managedFields"}))
      text += std::string(string_at(entry, {"manager"})) + " " + std::string(string_at(entry, {"time"})) + ";";
    return text;
  };
  CHECK(managers(apply(1)) == "us 2026-01-01T00:00:00Z;");
  f.clock.advance(std::chrono::seconds(5));
  CHECK(f.server.update(
                    {widgets, {"d", "w"}}, [](json::object& next) { next["spec"].as_object()["size"] = 3; }, "they")
            .has_value());
  CHECK(managers(f.get(widgets, "w")) == "us 2026-01-01T00:00:00Z;they 2026-01-01T00:00:05Z;");
  f.clock.advance(std::chrono::seconds(5));
  CHECK(managers(apply(2)) == "us 2026-01-01T00:00:10Z;");
}
