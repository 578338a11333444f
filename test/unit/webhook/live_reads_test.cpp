// Reads of decisions from the server: shared among waiting reviews, never older than these, and accounted for.
#include "webhook/live_reads.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "kube/async/timeout.hpp"
#include "kube/testing/simulated_cluster.hpp"
#include "liqo/api/kinds.hpp"

namespace {

using namespace kube::testing;
using namespace std::chrono_literals;
using liqo::webhook::Hold;
using liqo::webhook::LiveReads;
namespace asio = boost::asio;
namespace json = kube::json;
namespace kinds = liqo::api::kinds;

constexpr std::size_t kib = 1024;
constexpr int most = 200;  ///< objects that may be looked at

/// A review that reads the Ingresses.
struct Review {
  std::vector<std::string> saw;
  std::size_t held = 0, may_hold = 64 * kib * kib;
  std::optional<kube::Result<void>> outcome;
};

struct Milan : SimulatedCluster {
  Milan()
      : SimulatedCluster(
            {.name = "milan", .actor = "liqod", .on_failure = kube::async::TaskGroup::OnFailure::keep_others}),
        reads(api, most) {
    server.serve(kinds::ingresses);
    link.on_send([this](const kube::HttpRequest& request) { sent.push_back(request.target); });
  }
  ~Milan() { stop(); }

  void make(std::string_view name, std::size_t bytes = 0, std::string_view ns = "shop") {
    json::object object{{"metadata", json::object{{"name", name}, {"namespace", ns}}}};
    object["spec"] = json::object{{"text", std::string(bytes, 'x')}};
    REQUIRE(server.create(kinds::ingresses, std::move(object), "rome"));
  }
  asio::awaitable<void> look(Review& review, std::string ns, kube::Duration patience) {
    const Hold hold = [&review](std::size_t bytes) {
      review.held += bytes;
      return review.held <= review.may_hold;
    };
    auto answer = co_await kube::async::with_timeout(
        simulator.clock(),
        reads.each(
            {.collection = {kinds::ingresses, std::move(ns)}, .label_selector = {}},
            [&review](const kube::Object& ingress) { review.saw.emplace_back(ingress.name()); }, hold),
        patience);
    review.outcome = answer ? std::move(*answer) : kube::fail(kube::Errc::timeout, "it took too long");
  }
  void ask(Review& review, std::string ns = "shop", kube::Duration patience = 8s) {
    group.spawn(look(review, std::move(ns), patience));
  }
  template <class Reviews>
  void finish(const Reviews& reviews) {
    REQUIRE(simulator.run_until(
                [&] { return std::ranges::all_of(reviews, [](const Review& r) { return r.outcome.has_value(); }); },
                1min) == Simulator::End::reached);
  }

  LiveReads reads;
  std::vector<std::string> sent;
};

}  // namespace

TEST_CASE("twenty reviews of a namespace read its objects twice, and those of another one do not wait for them") {
  Milan milan;
  milan.make("web");
  milan.make("blog", 0, "office");
  std::array<Review, 20> reviews;
  Review elsewhere;
  for (Review& review : reviews) milan.ask(review);
  milan.ask(elsewhere, "office");
  milan.finish(reviews);
  for (const Review& review : reviews) {
    CHECK(review.outcome->has_value());
    CHECK(review.saw == std::vector<std::string>{"web"});
  }
  CHECK(elsewhere.saw == std::vector<std::string>{"blog"});
  CHECK(milan.sent.size() == 3);
  // The reader accounts for a page, and waiting reviews for nothing.
  CHECK(std::ranges::count_if(reviews, [](const Review& review) { return review.held == LiveReads::one_list; }) == 2);
  CHECK(std::ranges::count_if(reviews, [](const Review& review) { return review.held == 0; }) == 18);
}

TEST_CASE("what a review sees is not older than the review") {
  Milan milan;
  milan.make("web");
  std::array<Review, 3> reviews;
  milan.ask(reviews[0]);
  // The server has answered the first one, and its answer is on the way.
  REQUIRE(milan.simulator.run_until([&] { return milan.link.requests() == 1; }, 1min) == Simulator::End::reached);
  milan.simulator.run_for(5ms);
  milan.make("api");
  milan.ask(reviews[1]);
  milan.ask(reviews[2]);
  milan.finish(reviews);
  for (const Review& later : {reviews[1], reviews[2]}) CHECK(later.saw == std::vector<std::string>{"api", "web"});
}

TEST_CASE("a review that ends before its list does leaves the list to the others") {
  Milan milan;
  milan.make("web");
  std::array<Review, 4> reviews;
  milan.link.partition();
  milan.ask(reviews[0], "shop", 1s);
  milan.ask(reviews[1], "shop", 20s);
  milan.ask(reviews[2], "shop", 2s);
  milan.ask(reviews[3], "shop", 20s);
  milan.simulator.run_for(3s);
  CHECK(reviews[0].outcome);
  CHECK_FALSE(reviews[1].outcome);
  CHECK(reviews[2].outcome);
  milan.link.heal();
  milan.finish(reviews);
  CHECK_FALSE(reviews[0].outcome->has_value());
  CHECK_FALSE(reviews[2].outcome->has_value());
  for (const Review& patient : {reviews[1], reviews[3]}) {
    CHECK(patient.outcome->has_value());
    CHECK(patient.saw == std::vector<std::string>{"web"});
  }
  // Nothing is left of cancelled reviews.
  std::array<Review, 1> later;
  milan.ask(later[0]);
  milan.finish(later);
  CHECK(later[0].saw == std::vector<std::string>{"web"});
}

TEST_CASE("large objects are looked at one by one, and paid for as others are") {
  Milan milan;
  for (int i = 0; i < 6; ++i) milan.make("large-" + std::to_string(i), 1'400 * kib);
  std::array<Review, 1> review;
  milan.ask(review[0]);
  milan.finish(review);
  CHECK(review[0].saw.size() == 6);
  CHECK(review[0].held == LiveReads::one_list);
  CHECK(milan.sent.size() == 1);
}

TEST_CASE("a review for which there is no memory reads nothing, and more objects than can be looked at are a failure") {
  Milan milan;
  std::array<Review, 1> poor;
  poor[0].may_hold = 1;
  milan.ask(poor[0]);
  milan.finish(poor);
  CHECK_FALSE(poor[0].outcome->has_value());
  CHECK(milan.sent.empty());

  for (int i = 0; i < most + 1; ++i) milan.make("i" + std::to_string(i));
  std::array<Review, 1> rich;
  milan.ask(rich[0]);
  milan.finish(rich);
  CHECK(rich[0].outcome->error().text() == "there are more than 200 ingresses");
}
