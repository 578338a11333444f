// How large an object of a consumer may be.
#include "core/admission/twin_size.hpp"

#include <doctest/doctest.h>

namespace liqo::core::admission {
namespace {

/// A Secret whose text has so many bytes.
kube::Object secret(std::size_t bytes) {
  kube::Object made = kube::Object::make(kube::resources::secrets, {"shop-rome", "s"});
  made.tree()["x"] = "";
  const std::size_t bare = made.text().size();
  made.tree()["x"] = std::string(bytes - bare, 'x');
  return made;
}

Request writes(Operation operation, std::size_t bytes, std::size_t before = 0) {
  Request request;
  request.operation = operation;
  request.plural = "secrets";
  request.name = "s";
  request.ns = "shop-rome";
  request.user = {.name = "pool-1f", .groups = {"rome"}};
  request.object = secret(bytes);
  if (before > 0) request.old_object = secret(before);
  return request;
}

}  // namespace

TEST_CASE("an object of a consumer is so small that all of its size would be within the bound") {
  PodPolicy policy;
  policy.max_twin_bytes = 100'000;
  struct Row {
    std::string_view title;
    Request request;
    std::int64_t objects;
    bool passes;
  };
  Request others = writes(Operation::create, 100'001);
  others.user = {.name = "admin", .groups = {"system:masters"}};
  for (const Row& row : {
           Row{"the first", writes(Operation::create, 100'000), 0, true},
           Row{"the first, too large", writes(Operation::create, 100'001), 0, false},
           Row{"the hundredth", writes(Operation::create, 1'000), 99, true},
           Row{"the hundredth, too large", writes(Operation::create, 1'001), 99, false},
           Row{"one that grows", writes(Operation::update, 1'001, 500), 100, false},
           Row{"one that grows within the bound", writes(Operation::update, 1'000, 500), 100, true},
           Row{"one that is larger, and stays so", writes(Operation::update, 5'000, 5'000), 100, true},
           Row{"somebody else's", others, 99, true},
       }) {
    CAPTURE(row.title);
    const Answer answer = check_size(row.request, "rome", row.objects, policy);
    CHECK(answer.allowed == row.passes);
    if (!row.passes) CHECK(answer.message.contains("maxTwinBytes in the policy"));
  }
}

TEST_CASE("who is to make an object smaller reads a name that the writer knows") {
  PodPolicy policy;
  policy.max_twin_bytes = 1'000;
  struct Row {
    std::string_view name, beginning, shown;
  };
  for (const Row& row : {Row{"s", "", "secrets \"s\" has "}, Row{"s", "token-", "secrets \"s\" has "},
                         Row{"", "token-", "secrets \"token-\" has "}, Row{"", "", "the object has "}}) {
    Request request = writes(Operation::create, 2'000);
    request.name = row.name;
    if (!row.beginning.empty()) request.object.mutable_metadata()["generateName"] = row.beginning;
    CAPTURE(row.shown);
    CHECK(check_size(request, "rome", 0, policy).message.starts_with(row.shown));
  }
}

TEST_CASE("a consumer that fills its twins as it likes stays within a small multiple of the bound") {
  PodPolicy policy;
  policy.max_twin_bytes = 1'000'000;
  // The largest that passes each time, as many as ever.
  std::int64_t sum = 0;
  for (std::int64_t objects = 0; objects < 20'000; ++objects) {
    const std::int64_t most = std::min<std::int64_t>(1'500, policy.max_twin_bytes / (objects + 1));
    sum += most;
    if (objects % 1'000 != 0 || most < 200) continue;
    const auto bytes = static_cast<std::size_t>(most);
    CHECK(check_size(writes(Operation::create, bytes), "rome", objects, policy).allowed);
    if (most < 1'500) CHECK_FALSE(check_size(writes(Operation::create, bytes + 1), "rome", objects, policy).allowed);
  }
  CHECK(sum < 5 * policy.max_twin_bytes);
}

TEST_CASE("of what a ResourceQuota counts, objects are what is called so") {
  const auto used = read_resources(json::parse(R"({"count/secrets": "2k", "count/configmaps": "5", "pods": "7",
                                                   "services.nodeports": "1"})")
                                       .as_object());
  REQUIRE(used.has_value());
  CHECK(counted_objects(*used) == 2'005);
  CHECK(counted_objects({}) == 0);
}

}  // namespace liqo::core::admission
