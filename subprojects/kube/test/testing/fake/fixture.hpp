// A fake API server with short ways to ask it, for the tests of the fake itself.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kube/k8s/request.hpp"
#include "kube/testing/fake/api_server.hpp"

namespace kube::testing {

inline constexpr Resource widgets{"example.io", "v1", "widgets", "Widget"};

/// An answer, parsed.
struct Said {
  int code = 0;
  json::value body;
  std::string_view text(std::initializer_list<std::string_view> path) const { return string_at(body, path); }
  std::string_view reason() const { return text({"reason"}); }
  std::string_view version() const { return text({"metadata", "resourceVersion"}); }
};

struct Fixture {
  VirtualClock clock;
  FakeApiServer server{clock};
  Fixture() { server.serve(widgets); }

  Said ask(const HttpRequest& request) {
    FakeAnswer answer = server.handle(request, "test");
    Said said{answer.status, {}};
    if (auto parsed = parse_json(answer.body)) said.body = std::move(*parsed);
    return said;
  }
  static json::object pod(std::string_view name, std::string_view node = {}) {
    json::object made = json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"d"},
      "spec":{"containers":[{"name":"c","image":"i:1"}]}})")
                            .as_object();
    made["metadata"].as_object()["name"] = name;
    if (!node.empty()) made["spec"].as_object()["nodeName"] = node;
    return made;
  }
  static json::object widget(std::string_view name) {
    return {{"apiVersion", "example.io/v1"},
            {"kind", "Widget"},
            {"metadata", json::object{{"name", name}, {"namespace", "d"}}},
            {"spec", json::object{{"size", 1}}}};
  }
  Said create(const Resource& resource, json::object object) {
    return ask(request::create(resource, Object(std::move(object))));
  }
  Said get(const Resource& resource, std::string_view name) {
    return ask(request::get(resource, {"d", std::string(name)}));
  }
  Said patch(const Resource& resource, std::string_view name, Patch patch, const WriteOptions& options = {}) {
    return ask(request::patch(resource, {"d", std::string(name)}, std::move(patch), options));
  }
  Said remove(const Resource& resource, std::string_view name, const DeleteOptions& options = {}) {
    return ask(request::remove(resource, {"d", std::string(name)}, options));
  }
  /// "TYPE name" of all events that are there; a bookmark is "BOOKMARK version", an error "ERROR code".
  static std::vector<std::string> events(FakeWatch& watch) {
    std::vector<std::string> all;
    while (auto line = watch.next()) {
      const json::value event = json::parse(*line);
      std::string text(string_at(event, {"type"}));
      const json::value& object = *find(event, {"object"});
      if (text == "BOOKMARK")
        text += string_at(object, {"metadata", "annotations", "k8s.io/initial-events-end"}) == "true" ? " initial" : "";
      else if (text == "ERROR")
        text += " " + std::to_string(int_at(object, {"code"}));
      else
        text += " " + std::string(string_at(object, {"metadata", "name"}));
      all.push_back(std::move(text));
    }
    return all;
  }
  std::unique_ptr<FakeWatch> watch(const Resource& resource, const WatchOptions& options) {
    FakeAnswer answer = server.handle(request::watch(resource, "d", options), "test");
    REQUIRE(answer.status == 200);
    return std::move(answer.watch);
  }
};

using Lines = std::vector<std::string>;

}  // namespace kube::testing
