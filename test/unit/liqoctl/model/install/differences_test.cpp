// The differences between two documents, as people read them.
#include "model/install/differences.hpp"

#include <doctest/doctest.h>

#include "kube/base/text.hpp"

using namespace liqoctl;
namespace json = kube::json;

namespace {

std::string between(std::string_view before, std::string_view after) {
  return kube::join(model::differences(json::parse(before), json::parse(after)), "\n");
}

kube::Object parsed(std::string_view text) { return kube::Object(json::parse(text).as_object()); }

std::string text_of(std::string_view text) { return json::serialize(json::object{{"text", text}}); }

}  // namespace

TEST_CASE("a line tells each field that differs") {
  struct Case {
    const char *title, *before, *after, *told;
  };
  const Case cases[] = {
      {"the same", R"({"a": {"b": [1]}})", R"({"a": {"b": [1]}})", ""},
      {"values", R"({"a": {"b": 2, "c": "x"}})", R"({"a": {"b": 3, "c": ""}})", "a.b: 2 → 3\na.c: x → \"\""},
      {"fields that come and go", R"({"a": {"b": true}})", R"({"c": {"d": {}, "e": [1]}})",
       "a.b: true → (none)\nc.d: (none) → {}\nc.e: (none) → [1]"},
      {"an empty map that is filled", R"({"a": {}})", R"({"a": {"b": 1}})", "a.b: (none) → 1"},
      {"another kind of value", R"({"a": [1]})", R"({"a": "x"})", "a: [1] → x"},
      {"entries of a list", R"({"args": ["--a", "--b", "--b"]})", R"({"args": ["--b", "--c"]})",
       "args: - --a\nargs: + --c\nargs: - --b"},
      {"their order", R"({"args": ["--a", "--b"]})", R"({"args": ["--b", "--a"]})", "args: in another order"},
      {"entries with names", R"({"c": [{"name": "x", "v": 1}, {"name": "y"}]})",
       R"({"c": [{"name": "z"}, {"name": "x", "v": 2}]})",
       "c[x].v: 1 → 2\nc[y].name: y → (none)\nc[z].name: (none) → z"},
      {"entries without", R"({"rules": [{"verbs": ["get"]}, {"verbs": ["list"]}]})",
       R"({"rules": [{"verbs": ["get"]}, {"verbs": ["list", "watch"]}, {"x": 1}]})",
       "rules[].verbs: + watch\nrules: + {\"x\":1}"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.title);
    CHECK(between(one.before, one.after) == one.told);
  }
}

TEST_CASE("of long texts the place is shown where they begin to differ") {
  const std::string begin(300, 'a');
  CHECK(between(text_of(begin + "tail one"), text_of(begin + "tail two")) ==
        "text: …" + std::string(15, 'a') + "tail one → …" + std::string(15, 'a') + "tail two");
  CHECK(between(text_of("one\ntwo\nthree"), text_of("one\n2\nthree")) == "text: line 2: two → 2");
  CHECK(between(text_of("one\ntwo"), text_of("one\ntwo\nthree")) == "text: line 3: (none) → three");
  CHECK(between(text_of(begin), text_of(begin + "b")) ==
        "text: …" + std::string(20, 'a') + " → …" + std::string(20, 'a') + "b");
  // A character of several bytes is not split.
  const std::string accents = begin + "ääääääääääää";
  CHECK(between(text_of(accents + "1"), text_of(accents + "2")).ends_with("ä2"));
  CHECK_FALSE(between(text_of(accents + "1"), text_of(accents + "2")).contains('?'));
}

TEST_CASE("credentials are compared, and not shown") {
  CHECK(between(R"({"apiServer": {"ca": "x"}})", R"({"apiServer": {"ca": "y"}})") ==
        "apiServer.ca: changed (not shown)");
  CHECK(between("{}", R"({"token": "y"})") == "token: set (not shown)");
  CHECK(between(R"({"args": ["--token=a"]})", R"({"args": ["--token=b"]})") ==
        "args: - --token=(set, not shown)\nargs: + --token=(set, not shown)");
  CHECK(between(R"({"env": [{"name": "API_TOKEN", "value": "a"}]})",
                R"({"env": [{"name": "API_TOKEN", "value": "b"}]})") == "env[API_TOKEN].value: changed (not shown)");
  CHECK(between(R"({"extraArgs": ["--api-password", "old"]})", R"({"extraArgs": ["--api-password", "new"]})") ==
        "extraArgs: - (set, not shown)\nextraArgs: + (set, not shown)");
  const std::string begin(100, 'x');
  CHECK(between(R"({"args": ["--api-password", ")" + begin + "a\"]}",
                R"({"args": ["--api-password", ")" + begin + "b\"]}") ==
        "args: - (set, not shown)\nargs: + (set, not shown)");
  CHECK(between(R"({"registryCredentials": {"pin": 1, "to": ["a"]}})",
                R"({"registryCredentials": {"pin": 2, "to": []}})") ==
        "registryCredentials.pin: changed (not shown)\nregistryCredentials.to: changed (not shown)");
  CHECK(between(R"({"notes": {"db-password.v2": "a"}})", R"({"notes": {"db-password.v2": "b"}})") ==
        "notes.db-password.v2: changed (not shown)");
  const char* variable = R"({"env": [{"name": "API_TOKEN", "value": "x"}]})";
  for (const char* before : {"{}", R"({"env": []})"}) {
    CAPTURE(before);
    CHECK(between(before, variable).contains(R"-({"name":"API_TOKEN","value":"(set, not shown)"})-"));
  }
  const auto secret = [](std::string_view data) {
    kube::Object made = parsed(R"({"kind": "Secret", "metadata": {"name": "s", "labels": {"a": "1"}}})");
    made.tree()["data"] = json::parse(data);
    return made;
  };
  kube::Object after = secret(R"({"values": "Yg==", "more": "Yw=="})");
  after.set_label("a", "2");
  CHECK(kube::join(model::differences(secret(R"({"values": "YQ=="})"), after), "\n") ==
        "metadata.labels.a: 1 → 2\ndata.values: changed (not shown)\ndata.more: set (not shown)");
}

TEST_CASE("what only the API server writes is no difference") {
  const kube::Object before = parsed(R"({"kind": "Deployment", "metadata": {"name": "liqod", "resourceVersion": "1",
      "generation": 1, "managedFields": [1]}, "spec": {"replicas": 2}, "status": {"replicas": 2}})");
  const kube::Object after = parsed(R"({"kind": "Deployment", "metadata": {"name": "liqod", "resourceVersion": "2",
      "generation": 2, "managedFields": [2], "uid": "u"}, "spec": {"replicas": 2}})");
  CHECK(model::differences(before, after).empty());
}

TEST_CASE("changes are listed and counted") {
  using Kind = model::ObjectChange::Kind;
  std::vector<model::ObjectChange> changes{{Kind::added, "Service liqo/a", {}},
                                           {Kind::changed, "Deployment liqo/liqod", {"spec.replicas: 2 → 3"}},
                                           {Kind::removed, "ConfigMap liqo/b", {}}};
  CHECK(model::in_lines(changes) ==
        "+ Service liqo/a\n~ Deployment liqo/liqod\n    spec.replicas: 2 → 3\n- ConfigMap liqo/b\n");
  CHECK(model::count_changes(changes) == "1 object would be added, 1 changed, 1 removed");
  changes.erase(changes.begin());
  changes.push_back(changes.front());
  CHECK(model::count_changes(changes) == "2 objects would be changed, 1 removed");
  CHECK(model::count_changes({}) == "nothing would change");
  changes = {{Kind::changed, "ConfigMap liqo/b", std::vector<std::string>(41, "x")}};
  CHECK(model::in_lines(changes).ends_with("    x\n    and 1 more\n"));
}
