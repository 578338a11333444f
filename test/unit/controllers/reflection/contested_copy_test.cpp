// A copy that somebody at the provider overwrites again and again.
#include "reflector_fixture.hpp"

namespace liqo::controllers {
namespace {

constexpr std::string_view given_up = "CopyOverwritten";

/// Somebody in milan writes the copy `words` after each of our writes, and managedFields say so.
struct Contested : World {
  Contested() {
    milan_transport.changes_answer = [](const kube::HttpRequest& asked) {
      return asked.method == "GET" && asked.target.contains("/configmaps/words");
    };
    milan_transport.change_answer = [this](json::object& object) {
      kube::ensure_object(object, "metadata")["managedFields"] =
          json::array{json::object{{"manager", "reflection.liqo.io"}, {"time", "2026-11-30T09:00:00Z"}},
                      json::object{{"manager", manager}, {"time", "2026-11-30T09:00:" + std::to_string(turns) + "Z"}}};
    };
    create("words", "ours");
    REQUIRE(reaches([&] { return at_milan("words") == "ours"; }));
  }
  ~Contested() { stop(); }
  void overwrite(std::string_view value = "theirs") {
    ++turns;
    REQUIRE(milan.update(
        {kind, {"shop-rome", "words"}}, [&](json::object& tree) { tree["data"] = json::object{{"key", value}}; },
        actor));
  }
  /// They overwrite it until it is left to them.
  void lose() {
    for (int round = 0; round < 2; ++round) {
      overwrite();
      REQUIRE(reaches([&] { return at_milan("words") == "ours"; }, 30s));
    }
    overwrite();
    REQUIRE(reaches([&] { return events(given_up) == 1; }, 30s));
  }
  std::string words_of_event() {
    for (const auto& tree : rome.list(kube::resources::events))
      if (kube::string_at(*tree, {"reason"}) == given_up) return std::string(kube::string_at(*tree, {"message"}));
    return {};
  }

  std::string manager = "pilot-discovery";
  int turns = 10;  ///< of theirs: each has a time of its own
};

}  // namespace

TEST_CASE("a copy that is overwritten three times in two minutes is left as it is, and who does so is reported once") {
  Contested w;
  w.lose();
  CHECK(w.at_milan("words") == "theirs");
  CHECK(w.words_of_event().contains("\"pilot-discovery\""));
  CHECK(
      w.metrics.text().contains("liqo_copies_given_up_total{cluster_id=\"milan\",reflector_resource=\"ConfigMap\"} 1"));
  const std::size_t writes = w.writes();
  // They go on writing.
  for (int i = 0; i < 20; ++i) {
    w.overwrite("theirs " + std::to_string(i));
    w.pass(1min);
  }
  CHECK(w.writes() == writes);
  // After an hour it is written once, and given up at the first overwriting.
  CHECK(w.reaches([&] { return w.at_milan("words") == "ours"; }, 45min));
  w.overwrite();
  w.pass(30min);
  CHECK(w.at_milan("words") == "theirs");
}

TEST_CASE("a copy that was given up is ours again once they leave it alone") {
  Contested w;
  w.lose();
  CHECK(w.reaches([&] { return w.at_milan("words") == "ours"; }, 62min));
  w.pass(10min);
  CHECK(w.at_milan("words") == "ours");
  // All is forgotten: it is corrected twice before it is given up.
  for (int round = 0; round < 2; ++round) {
    w.overwrite();
    CHECK(w.reaches([&] { return w.at_milan("words") == "ours"; }, 30s));
  }
}

TEST_CASE("new content of home is written once over a copy that was given up") {
  Contested w;
  w.lose();
  w.pass(3min);
  w.set("words", "new");
  CHECK(w.reaches([&] { return w.at_milan("words") == "new"; }, 10s));
  w.overwrite();
  w.pass(20min);
  CHECK(w.at_milan("words") == "theirs");
  // Home that changes all the time does not write all the time.
  const std::size_t writes = w.writes();
  for (int i = 0; i < 30; ++i) {
    w.set("words", "new " + std::to_string(i));
    w.pass(10s);
  }
  CHECK(w.writes() <= writes + 4);
  // The last content of home gets its turn, too.
  CHECK(w.reaches([&] { return w.at_milan("words") == "new 29"; }, 3min));
}

TEST_CASE("a copy that was given up goes with its object if it is still ours") {
  Contested w;
  w.lose();
  SUBCASE("it has our labels") {
    REQUIRE(w.rome.remove(kind, {"shop", "words"}, {}, actor));
    CHECK(w.reaches([&] { return w.at_milan("words") == "(none)"; }, 30s));
  }
  SUBCASE("they have taken it over") {
    REQUIRE(w.milan.update(
        {kind, {"shop-rome", "words"}}, [](json::object& tree) { tree["metadata"].as_object().erase("labels"); },
        actor));
    w.pass(1min);
    REQUIRE(w.rome.remove(kind, {"shop", "words"}, {}, actor));
    w.pass(2min);
    CHECK(w.at_milan("words") == "theirs");
  }
}

TEST_CASE("the name of a field manager is shortened and made printable") {
  Contested w;
  w.manager = "evil\n" + std::string(1000, 'x');
  w.lose();
  const std::string words = w.words_of_event();
  CHECK_FALSE(words.contains('\n'));
  CHECK(words.size() < 600);
}

TEST_CASE("what is added to a copy again and again is left, too") {
  Contested w;
  const auto add = [&] {
    ++w.turns;
    REQUIRE(w.milan.update(
        {kind, {"shop-rome", "words"}}, [](json::object& tree) { kube::ensure_object(tree, "data")["theirs"] = "1"; },
        actor));
  };
  const auto has_more = [&] {
    return kube::object_at(*w.milan.get(kind, {"shop-rome", "words"}), {"data"}).size() == 2;
  };
  for (int round = 0; round < 2; ++round) {
    add();
    REQUIRE(w.reaches([&] { return !has_more(); }, 30s));
  }
  add();
  REQUIRE(w.reaches([&] { return w.events(given_up) == 1; }, 30s));
  w.pass(10min);
  CHECK(has_more());
}

}  // namespace liqo::controllers
