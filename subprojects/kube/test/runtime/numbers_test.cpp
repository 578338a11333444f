// Floating-point numbers of a custom resource, by every way in which an object is read and written.
#include <doctest/doctest.h>

#include "kube/runtime/informer.hpp"
#include "runtime_fixture.hpp"
#include "support/random_doubles.hpp"

using namespace kube;
using namespace kube::testing;

namespace {

const std::vector<double>& numbers() {
  static const std::vector<double> made = random_doubles(10'000);
  return made;
}

/// How many of the object's numbers are not those that were written.
std::size_t changed(const Object& object) {
  const json::array& weights = array_at(object.spec(), {"weights"});
  REQUIRE(weights.size() == numbers().size());
  std::size_t count = 0;
  for (std::size_t at = 0; at < weights.size(); ++at)
    count += json::value_to<double>(weights[at]) == numbers()[at] ? 0 : 1;
  return count;
}

asio::awaitable<void> write_and_read(RuntimeFixture& w, std::vector<Object>& seen) {
  std::string text = R"({"apiVersion":"example.io/v1","kind":"Widget","metadata":{"name":"a","namespace":"d"},)"
                     R"("spec":{"weights":[)";
  for (const double number : numbers()) text += digits_of(number) + ",";
  text.back() = ']';
  const auto made = Object::parse(text + "}}");
  REQUIRE(made);
  auto created = co_await w.api.create(widgets, *made);
  REQUIRE(created);
  seen.push_back(std::move(*created));
  auto read = co_await w.api.get(widgets, {"d", "a"});
  REQUIRE(read);
  read->set_label("seen", "true");
  auto replaced = co_await w.api.replace(widgets, *read);
  REQUIRE(replaced);
  seen.push_back(std::move(*replaced));
  auto listed = co_await w.api.list(widgets, "d", {});
  REQUIRE(listed);
  REQUIRE(listed->items.size() == 1);
  seen.push_back(Object::from(std::move(listed->items[0])).value());
}

}  // namespace

TEST_CASE("the numbers of a custom resource survive every way of reading and writing it") {
  RuntimeFixture w;
  std::vector<Object> seen;
  w.simulator.run(write_and_read(w, seen));
  Informer watching(w.simulator.executor(), w.api, {.resource = widgets}, w.metrics);
  Informer listing(w.simulator.executor(), w.api, {.resource = widgets, .in_pages = true}, w.metrics);
  for (Informer* informer : {&watching, &listing}) {
    w.group.spawn(informer->run());
    REQUIRE(w.reaches([informer] { return informer->store().size() == 1; }));
    seen.push_back(informer->find({"d", "a"}).value());
  }
  w.simulator.run(w.group.stop());
  REQUIRE(seen.size() == 5);
  for (const Object& object : seen) CHECK(changed(object) == 0);
}
