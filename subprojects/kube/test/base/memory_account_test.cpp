#include "kube/base/memory_account.hpp"

#include <doctest/doctest.h>

#include <optional>

#include "kube/base/json_arena.hpp"

using namespace kube;

namespace {

constexpr std::size_t mebibyte = 1u << 20;

std::shared_ptr<MemoryAccount> account_of(std::size_t limit, std::shared_ptr<MemoryAccount> whole = nullptr) {
  return std::make_shared<MemoryAccount>("cluster milan", limit, std::move(whole));
}

/// `element` again and again, in a list.
std::string dense(std::string_view element, std::size_t bytes) {
  std::string text = "[";
  while (text.size() + element.size() + 1 < bytes) text.append(element).append(",");
  text.back() = ']';
  return text;
}

}  // namespace

TEST_CASE("an account gives what it has, and a part of another no more than that has") {
  const auto whole = account_of(100);
  const auto one = account_of(80, whole), other = account_of(80, whole);
  CHECK(one->try_take(60) == nullptr);
  CHECK(one->try_take(21) == one.get());
  CHECK(other->try_take(41) == whole.get());
  CHECK(other->try_take(40) == nullptr);
  CHECK(whole->held() == 100);
  other->take(10);
  CHECK(other->held() == 50);
  CHECK(whole->held() == 110);
  CHECK(one->try_take(0) == whole.get());
  CHECK(whole->try_take(SIZE_MAX) == whole.get());
  other->give_back(50);
  one->give_back(60);
  CHECK(whole->held() == 0);
  CHECK(one->try_take(81) == one.get());
  one->set_limit(81);
  CHECK(one->try_take(81) == nullptr);
}

TEST_CASE("a part has its floor whatever the others hold, and no more than its own limit") {
  const auto process = account_of(110), whole = account_of(100, process);
  const auto one = account_of(100, whole), other = account_of(20, whole);
  other->set_floor(30);
  CHECK(one->try_take(100) == nullptr);
  CHECK(other->try_take(15) == nullptr);
  CHECK(other->try_take(6) == other.get());
  CHECK(whole->held() == 115);
  CHECK(process->held() == 115);
  // What is beyond its floor has to fit into the whole.
  other->set_floor(18);
  CHECK(other->try_take(4) == whole.get());
  one->give_back(100);
  CHECK(other->try_take(4) == nullptr);
  other->give_back(19);
  CHECK(process->held() == 0);
}

TEST_CASE("dense JSON is refused before it takes more memory than its account has") {
  for (const char* element : {"0", "[]", "{}", R"({"":0})", R"("")", "null", "1.5"}) {
    CAPTURE(element);
    const auto account = account_of(24 * mebibyte);
    const auto tree = parse_json_arena(dense(element, 10 * mebibyte), max_object_depth, account);
    REQUIRE_FALSE(tree);
    CHECK(tree.error().code() == Errc::too_large);
    CHECK(tree.error().text() ==
          "an answer takes more memory than is left for what is read of cluster milan: 0 of 24 MiB are in use");
    CHECK(account->held() == 0);
  }
  const std::string long_text = '"' + std::string(10 * mebibyte, 'x') + '"';
  CHECK(parse_json_arena(long_text, max_object_depth, account_of(24 * mebibyte)));
}

TEST_CASE("a document is parsed whole or not at all, wherever its memory ends") {
  std::string text = R"({"list":[)";
  for (int i = 0; i < 100; ++i)
    text += R"({"name":"a name that is longer than a short string","values":[1,2.5,"x",[[]],{}],"name":"twice"},)";
  text += R"("a \n string with escapes )" + std::string(3000, 'y') + R"("]})";
  const auto whole = parse_json(text);
  REQUIRE(whole);
  bool fits = false;
  for (std::size_t limit = 0; !fits; limit += 512) {
    const auto account = account_of(limit);
    const auto tree = parse_json_arena(text, max_object_depth, account);
    fits = tree.has_value();
    // By their texts: to compare trees Boost copies parts of them, which lie in the same memory.
    if (fits) CHECK(json::serialize(*tree) == json::serialize(*whole));
    if (!fits) CHECK(tree.error().code() == Errc::too_large);
    CHECK(account->held() <= limit);
    CHECK((account->held() > 0) == fits);
    REQUIRE(limit < 10 * mebibyte);
  }
}

TEST_CASE("two peers together do not pass the bound of all") {
  const auto whole = account_of(16 * mebibyte);
  const auto one = account_of(16 * mebibyte, whole), other = account_of(16 * mebibyte, whole);
  const std::string text = dense("[1,2,3]", 100'000);
  std::vector<json::value> held;
  const auto read = [&](const auto& account) {
    auto tree = parse_json_arena(text, max_object_depth, account);
    if (tree) held.push_back(std::move(*tree));
    CHECK(whole->held() == one->held() + other->held());
    CHECK(whole->held() <= 16 * mebibyte);
    return tree.has_value();
  };
  while (read(one) && read(other)) continue;
  CHECK(held.size() >= 2);
  CHECK_FALSE(read(other));
  held.clear();
  CHECK(whole->held() == 0);
  CHECK(read(other));
}

TEST_CASE("documents with nothing in them are counted, too") {
  const auto account = account_of(mebibyte);
  std::vector<json::value> held;
  while (auto tree = parse_json_arena("{}", max_object_depth, account)) {
    held.push_back(std::move(*tree));
    REQUIRE(held.size() < 10'000);
  }
  CHECK(held.size() > 1000);
  held.clear();
  CHECK(account->held() == 0);
}

TEST_CASE("a tree of a peer that is at its bound may be changed") {
  const auto account = account_of(mebibyte);
  auto tree = parse_json_arena(R"({"metadata":{"name":"a"}})", max_object_depth, account);
  REQUIRE(tree);
  account->take(2 * mebibyte);
  CHECK_FALSE(parse_json_arena(R"({"a":1})", max_object_depth, account));
  const std::size_t before = account->held();
  json::object& metadata = ensure_object(tree->get_object(), "metadata");
  for (int i = 0; i < 1000; ++i) metadata["note-" + std::to_string(i)] = std::string(100, 'x');
  CHECK(metadata.size() == 1001);
  CHECK(account->held() > before + 100'000);
  account->give_back(2 * mebibyte);
  tree = fail(Errc::closed, "gone");
  CHECK(account->held() == 0);
}

TEST_CASE("a tree outlives whoever has read it, and gives its memory back with its last part") {
  const auto whole = account_of(mebibyte);
  std::optional<json::value> part;
  std::weak_ptr<MemoryAccount> seen;
  {
    auto account = account_of(mebibyte, whole);
    seen = account;
    auto tree = parse_json_arena(R"({"spec":{"a":["b"]},"status":{}})", max_object_depth, account);
    REQUIRE(tree);
    account.reset();
    part.emplace(std::move(tree->get_object().at("spec")));
  }
  CHECK(whole->held() > 0);
  CHECK_FALSE(seen.expired());
  CHECK(json::serialize(*part) == R"({"a":["b"]})");
  part->get_object()["c"] = std::string(10'000, 'x');
  part.reset();
  CHECK(seen.expired());
  CHECK(whole->held() == 0);
}

TEST_CASE("a hold keeps what it has where more is refused") {
  const auto account = account_of(100);
  {
    MemoryHold hold(account);
    CHECK(hold.grow(60));
    CHECK(hold.grow(50));
    const auto refused = hold.grow(101);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Errc::too_large);
    CHECK(account->held() == 60);
    MemoryHold other(std::move(hold));
    other.shrink(10);
    CHECK(account->held() == 10);
    CHECK(MemoryHold().grow(SIZE_MAX));
  }
  CHECK(account->held() == 0);
}
