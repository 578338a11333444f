// Whole lists, page by page.
#include "kube/client/list_all.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "kube/testing/sim/simulator.hpp"

using namespace kube;
using namespace kube::testing;

namespace {

class Text final : public net::Body {
 public:
  explicit Text(std::string text) : text_(std::move(text)) {}
  asio::awaitable<Result<std::string>> read() override { co_return std::exchange(text_, {}); }

 private:
  std::string text_;
};

/// A server with objects "0", "1", ... of one size, that keeps to page sizes or forgets the list after its first page.
class PagedServer final : public net::Transport {
 public:
  int objects = 0;
  std::size_t object_bytes = 10;
  bool forgets = false;
  std::vector<std::string> targets;

  asio::awaitable<Result<net::Response>> send(HttpRequest request, Deadline) override {
    targets.push_back(request.target);
    const int limit = number(request.target, "limit="), from = number(request.target, "continue=at");
    net::Response response;
    if (forgets && from > 0) {
      response.head.status = 410;
      response.body = std::make_unique<Text>(R"({"kind":"Status","status":"Failure","reason":"Expired","code":410})");
      co_return response;
    }
    const int to = std::min(objects, from + limit);
    std::string text = R"({"metadata":{"resourceVersion":"7")";
    if (to < objects) text += R"(,"continue":"at)" + std::to_string(to) + "\"";
    text += "},\"items\":[";
    for (int i = from; i < to; ++i)
      text += std::string(i > from ? "," : "") + R"({"metadata":{"name":")" + std::to_string(i) + R"(","note":")" +
              std::string(object_bytes, 'x') + "\"}}";
    response.head.status = 200;
    response.body = std::make_unique<Text>(text + "]}");
    co_return response;
  }

 private:
  static int number(const std::string& target, std::string_view behind) {
    const auto at = target.find(behind);
    return at == std::string::npos ? 0 : std::stoi(target.substr(at + behind.size()));
  }
};

struct Read {
  Result<std::string> version;
  std::vector<std::string> names;
};

Read read(PagedServer& server, ListOptions options, std::size_t most = 1'000'000) {
  Simulator simulator(1);
  Random random(1);
  Metrics metrics;
  Api api(server, simulator.clock(), random, metrics, {.cluster = "milan"});
  Read out{.version = fail(Errc::closed, "not read"), .names = {}};
  simulator.run([](Api& api, ListOptions options, std::size_t most, Read& out) -> asio::awaitable<void> {
    out.version = co_await list_all(api, {resources::pods, ""}, std::move(options), [&](const Object& object) {
      out.names.emplace_back(object.name());
      return out.names.size() < most;
    });
  }(api, std::move(options), most, out));
  return out;
}

}  // namespace

TEST_CASE("all pages are read, or as many as are wanted") {
  PagedServer server;
  server.objects = 1'201;
  Read all = read(server, {});
  CHECK(all.version == "7");
  CHECK(all.names.size() == 1'201);
  CHECK(all.names.back() == "1200");
  CHECK(server.targets.size() == 3);
  server.targets.clear();
  CHECK(read(server, {.limit = 100}, 150).names.size() == 150);
  CHECK(server.targets.size() == 2);
}

TEST_CASE("a page of many bytes is read in one go, since it is never held whole") {
  PagedServer server;
  server.objects = 100;
  server.object_bytes = 1 << 20;
  const Read all = read(server, {});
  REQUIRE(all.version);
  CHECK(all.names.size() == 100);
  CHECK(server.targets.size() == 1);
}

TEST_CASE("a list that its server forgets before its end is no list") {
  PagedServer server;
  server.objects = 600;
  server.forgets = true;
  const Read some = read(server, {});
  REQUIRE_FALSE(some.version);
  CHECK(some.version.error().is_expired());
}
