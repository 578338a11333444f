#include "kube/wire/watch_decoder.hpp"

#include <doctest/doctest.h>

#include "wire/close_text.hpp"

using namespace kube::wire;

namespace {

constexpr std::string_view stream = R"({"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"5"}}})"
                                    "\n"
                                    R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}})"
                                    "\n\r\n"
                                    R"({"type":"ERROR","object":{"kind":"Status","code":410}})"
                                    "\n";

const std::string long_event =
    R"({"type":"MODIFIED","object":{"kind":"A","metadata":{"name":"long","resourceVersion":"7"},"spec":{"text":")" +
    std::string(3000, 'x') + "\"}}}\n";

std::vector<WatchEventType> decode_in_pieces(std::string_view bytes, std::size_t split) {
  WatchDecoder decoder;
  std::vector<WatchEventType> types;
  for (std::string_view piece : {bytes.substr(0, split), bytes.substr(split)}) {
    decoder.feed(piece);
    while (true) {
      auto event = decoder.next();
      REQUIRE(event.has_value());
      if (!event->has_value()) break;
      types.push_back((*event)->type);
    }
  }
  return types;
}

}  // namespace

TEST_CASE("a watch split at any byte gives the same events") {
  const std::vector expected{WatchEventType::added, WatchEventType::bookmark, WatchEventType::error};
  for (std::size_t split = 0; split <= stream.size(); ++split) {
    CAPTURE(split);
    CHECK(decode_in_pieces(stream, split) == expected);
  }
}

TEST_CASE("what is not an event is refused") {
  struct Case {
    const char* title;
    const char* line;
  };
  for (const Case& c : {Case{"not JSON", "nonsense\n"},
                        Case{"no type", R"({"object":{}})"
                                        "\n"},
                        Case{"unknown type", R"({"type":"MOVED","object":{}})"
                                             "\n"},
                        Case{"object is a string", R"({"type":"ADDED","object":"x"})"
                                                   "\n"},
                        Case{"an array", "[]\n"}}) {
    CAPTURE(c.title);
    WatchDecoder decoder;
    decoder.feed(c.line);
    CHECK(decoder.next().error().code() == kube::Errc::parse);
  }
}

TEST_CASE("what is no event is refused once it passes the limit, also without an end") {
  WatchDecoder decoder(1024);
  decoder.feed(std::string(1024, 'x'));
  CHECK(decoder.next().has_value());
  decoder.feed("x");
  CHECK(decoder.next().error().code() == kube::Errc::parse);
}

TEST_CASE("of an event that is too long the beginning is taken, and the next ones come as ever") {
  const std::string text = long_event + std::string(stream);
  for (std::size_t split = 0; split <= text.size(); ++split) {
    CAPTURE(split);
    WatchDecoder decoder(1024);
    std::vector<WatchEvent> events;
    for (const std::string& piece : {text.substr(0, split), text.substr(split)}) {
      REQUIRE(decoder.feed(piece));
      while (true) {
        auto event = decoder.next();
        REQUIRE(event);
        if (!event->has_value()) break;
        events.push_back(std::move(**event));
      }
    }
    REQUIRE(events.size() == 4);
    CHECK(events[0].too_long);
    CHECK(events[0].type == WatchEventType::modified);
    CHECK(kube::string_at(events[0].object, {"metadata", "name"}) == "long");
    CHECK(kube::string_at(events[0].object, {"metadata", "resourceVersion"}) == "7");
    CHECK_FALSE(events[0].object.contains("spec"));
    CHECK_FALSE(events[1].too_long);
    CHECK(kube::string_at(events[1].object, {"metadata", "name"}) == "a");
  }
}

TEST_CASE("a line without end takes no more memory than its beginning") {
  const auto account = std::make_shared<kube::MemoryAccount>("cluster milan", 1 << 16, nullptr);
  WatchDecoder decoder(1024, account);
  REQUIRE(decoder.feed(long_event.substr(0, 2000)));
  auto event = decoder.next();
  REQUIRE(event);
  REQUIRE(event->has_value());
  event->reset();
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(decoder.feed(std::string(4096, 'x')));
    event = decoder.next();
    REQUIRE(event);
    CHECK_FALSE(event->has_value());
    CHECK(account->held() <= 8192);
  }
  REQUIRE(decoder.feed("\"}}}\n" + std::string(stream)));
  event = decoder.next();
  REQUIRE(event);
  REQUIRE(event->has_value());
  CHECK((*event)->type == WatchEventType::added);
}

TEST_CASE("the beginning of a text is closed behind the last of its upper levels that has come whole") {
  const std::string text =
      R"({"type":"ADDED","object":{"kind":"A","metadata":{"labels":{"a":"}],\\\"","b":[1,{"c":2}]},"name":"x"},"spec":[1,2]}})";
  std::string longest;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    CAPTURE(size);
    const std::string closed = close_text(text.substr(0, size), 3);
    if (!closed.empty()) CHECK(kube::parse_json(closed).has_value());
    CHECK(closed.size() >= longest.size());
    longest = closed;
  }
  CHECK(
      longest ==
      R"({"type":"ADDED","object":{"kind":"A","metadata":{"labels":{"a":"}],\\\"","b":[1,{"c":2}]},"name":"x"},"spec":[1]}})");
  CHECK(close_text(std::string(1000, '['), 3).empty());
  CHECK(close_text("}]}],", 3) == "}]}]");
}

TEST_CASE("an object that is nested too deep comes as what it is called, and its stream goes on") {
  const auto event = [](int levels) {
    std::string text =
        R"({"type":"MODIFIED","object":{"metadata":{"name":"a","resourceVersion":"7"},"note":"}]\\\"","spec":)";
    for (int i = 0; i < levels; ++i) text += i % 2 ? "[" : R"({"[{":)";
    text += "1";
    for (int i = levels; i-- > 0;) text += i % 2 ? "]" : "}";
    return text + "}}\n";
  };
  kube::wire::WatchDecoder decoder;
  decoder.feed(event(200) + event(1000) + event(100'000) + event(1));
  for (const bool deep : {false, true, true, false}) {
    const auto next = decoder.next();
    REQUIRE(next);
    REQUIRE(next->has_value());
    CHECK((*next)->too_deep == deep);
    CHECK(kube::string_at((*next)->object, {"metadata", "resourceVersion"}) == "7");
  }
}

TEST_CASE("what waits for the end of its line is drawn on the account, and so is what is parsed") {
  const auto account = std::make_shared<kube::MemoryAccount>("cluster milan", 1 << 20, nullptr);
  {
    WatchDecoder one(10 << 20, account), other(10 << 20, account);
    const std::string piece(1 << 16, 'x');
    REQUIRE(other.feed(R"({"type":"ADDED","object":{"note":")" + piece));
    CHECK(account->held() >= piece.size());
    kube::Result<void> fed;
    for (int pieces = 0; fed && pieces < 100; ++pieces) {
      fed = one.feed(piece);
      REQUIRE(one.next());
      CHECK(account->held() <= 1 << 20);
    }
    REQUIRE_FALSE(fed);
    CHECK(fed.error().code() == kube::Errc::too_large);
    // The other one has what it has, and no more until there is room.
    CHECK_FALSE(other.feed(std::string(1 << 20, 'x')));
  }
  CHECK(account->held() == 0);

  WatchDecoder decoder(10 << 20, account);
  std::string zeros = R"({"type":"ADDED","object":{"x":[0)";
  for (int i = 0; i < 50'000; ++i) zeros += ",0";
  REQUIRE(decoder.feed(zeros + "]}}\n"));
  const auto event = decoder.next();
  REQUIRE_FALSE(event);
  CHECK(event.error().code() == kube::Errc::too_large);
  CHECK(account->held() == 0);

  std::optional<WatchEvent> kept;
  {
    WatchDecoder well(10 << 20, account);
    REQUIRE(well.feed(stream));
    auto first = well.next();
    REQUIRE(first);
    REQUIRE(first->has_value());
    while (well.next()->has_value()) continue;
    kept.emplace(std::move(**first));
  }
  CHECK(account->held() > 0);
  kept.reset();
  CHECK(account->held() == 0);
}
