#include "kube/wire/port_forward_relay.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

namespace {

using namespace kube;
using namespace kube::wire;
using namespace std::chrono_literals;
using Kind = SpdyEvent::Kind;

/// A caller, the relay, and a provider, joined without sockets. What the peers hear is kept by stream.
struct World {
  explicit World(ForwardLimits limits = {}) : relay("rome/web", limits) {}

  struct Heard {
    bool replied = false, finished = false, reset = false;
    std::string bytes;
  };

  SpdySession caller{SpdyRole::client};
  SpdySession provider{SpdyRole::server};
  PortForwardRelay relay;
  TimePoint now{};
  bool connects = true;  // the provider, when it is wanted
  bool answers = true;   // it replies to streams
  bool is_connected = false;
  std::size_t piece = std::string::npos;            // how much is fed at once
  std::size_t provider_budget = std::string::npos;  // bytes of it that arrive
  std::map<std::uint32_t, Heard> home, away;        // by stream
  std::vector<SpdyHeaders> asked;                   // of the provider
  Result<void> fed_by_provider;

  /// Moves everything until nothing moves any more.
  void pump() {
    for (bool moved = true; moved;) {
      moved = false;
      while (auto frame = caller.next_output()) {
        for (std::string_view rest = *frame; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size()))) {
          CHECK(relay.feed(ForwardSide::caller, rest.substr(0, piece), now));
        }
        moved = true;
      }
      if (connects && relay.wants_provider()) {
        relay.provider_connected();
        is_connected = moved = true;
      }
      while (auto frame = relay.next_output(ForwardSide::provider)) {
        CHECK(provider.feed(*frame));
        moved = true;
      }
      while (auto event = provider.next()) {
        hear(away, *event);
        if (event->kind != Kind::opened) continue;
        asked.push_back(event->headers);
        if (answers) provider.reply(event->stream);
      }
      while (auto frame = provider.next_output()) {
        for (std::string_view rest = *frame; !rest.empty() && is_connected && provider_budget > 0;) {
          const std::string_view next = rest.substr(0, std::min(piece, provider_budget));
          provider_budget -= next.size();
          fed_by_provider = relay.feed(ForwardSide::provider, next, now);
          rest.remove_prefix(next.size());
        }
        moved = true;
      }
      while (auto frame = relay.next_output(ForwardSide::caller)) {
        CHECK(caller.feed(*frame));
        moved = true;
      }
      while (auto event = caller.next()) hear(home, *event);
    }
  }

  static void hear(std::map<std::uint32_t, Heard>& side, const SpdyEvent& event) {
    Heard& heard = side[event.stream];
    if (event.kind == Kind::replied) heard.replied = true;
    if (event.kind == Kind::finished) heard.finished = true;
    if (event.kind == Kind::reset) heard.reset = true;
    heard.bytes += event.bytes;
  }

  std::uint32_t open(const SpdyHeaders& headers) {
    const auto id = caller.open(headers).value();
    pump();
    return id;
  }
  struct Pair {
    std::uint32_t error, data;
  };
  /// As Go's clients do it: the error stream and its end, then the data stream.
  Pair forward(const std::string& port, const std::string& request) {
    Pair pair{};
    pair.error = open({{"streamtype", "error"}, {"port", port}, {"requestid", request}});
    caller.finish(pair.error);
    pair.data = open({{"streamtype", "data"}, {"port", port}, {"requestid", request}});
    return pair;
  }
  void pass(Duration time) {
    now += time;
    relay.expire(now);
    pump();
  }
  bool is_empty() const {
    return relay.size() == 0 && relay.open_streams(ForwardSide::caller) == 0 &&
           relay.open_streams(ForwardSide::provider) == 0;
  }
};

}  // namespace

TEST_CASE("streams that name no port or no type are reset without a reply, and leave nothing") {
  struct Case {
    const char* title;
    SpdyHeaders headers;
  };
  const Case cases[] = {
      {"no port", {{"streamtype", "error"}, {"requestid", "0"}}},
      {"a word", {{"streamtype", "error"}, {"port", "abc"}, {"requestid", "0"}}},
      {"below zero", {{"streamtype", "error"}, {"port", "-1"}, {"requestid", "0"}}},
      {"zero", {{"streamtype", "error"}, {"port", "0"}, {"requestid", "0"}}},
      {"above all ports", {{"streamtype", "data"}, {"port", "70000"}, {"requestid", "0"}}},
      {"more than a number", {{"streamtype", "error"}, {"port", "80x"}, {"requestid", "0"}}},
      {"no type", {{"port", "80"}, {"requestid", "0"}}},
      {"an unknown type", {{"streamtype", "foo"}, {"port", "80"}, {"requestid", "0"}}},
      {"a long request", {{"streamtype", "error"}, {"port", "80"}, {"requestid", std::string(65, '1')}}},
      {"data before everything, without a request", {{"streamtype", "data"}, {"port", "80"}}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    World world;
    const auto id = world.open(c.headers);
    CHECK(world.home[id].reset);
    CHECK_FALSE(world.home[id].replied);
    CHECK(world.is_empty());
    CHECK(world.asked.empty());
  }
}

TEST_CASE("a pair becomes one forward, with a number of our own") {
  World world;
  const auto pair = world.forward("80", "77");
  CHECK(world.home[pair.error].replied);
  CHECK(world.home[pair.data].replied);
  CHECK(world.relay.size() == 1);
  REQUIRE(world.asked.size() == 2);
  CHECK(find_header(world.asked[0], "streamtype") == "error");
  CHECK(find_header(world.asked[1], "streamtype") == "data");
  for (const SpdyHeaders& headers : world.asked) {
    CHECK(find_header(headers, "port") == "80");
    CHECK(find_header(headers, "requestid") == "0");
  }
  CHECK(world.away[1].finished);  // we say nothing on the error stream
  world.caller.write(pair.data, "hello");
  world.pump();
  CHECK(world.away[3].bytes == "hello");
  world.provider.write(3, "HELLO");
  world.pump();
  CHECK(world.home[pair.data].bytes == "HELLO");
}

TEST_CASE("pairs are found by their request, or by their streams where there is none") {
  struct Case {
    const char* title;
    SpdyHeaders first, second;
    bool is_pair;
  };
  const Case cases[] = {
      {"no requests", {{"streamtype", "error"}, {"port", "80"}}, {{"streamtype", "data"}, {"port", "80"}}, true},
      {"the same",
       {{"streamtype", "error"}, {"port", "80"}, {"requestid", "2"}},
       {{"streamtype", "data"}, {"port", "80"}, {"requestid", "2"}},
       true},
      {"data first",
       {{"streamtype", "data"}, {"port", "80"}, {"requestid", "2"}},
       {{"streamtype", "error"}, {"port", "80"}, {"requestid", "2"}},
       true},
      {"two requests",
       {{"streamtype", "error"}, {"port", "80"}, {"requestid", "2"}},
       {{"streamtype", "data"}, {"port", "80"}, {"requestid", "3"}},
       false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    World world;
    world.open(c.first);
    world.open(c.second);
    CHECK(world.relay.size() == (c.is_pair ? 1 : 2));
    CHECK(world.asked.size() == (c.is_pair ? 2 : 0));
  }
}

TEST_CASE("a second stream of the same kind is told on the error stream, and the pair goes on") {
  for (const std::string kind : {"error", "data"}) {
    CAPTURE(kind);
    World world;
    const auto pair = world.forward("80", "5");
    const auto second = world.open({{"streamtype", kind}, {"port", "80"}, {"requestid", "5"}});
    CHECK(world.home[second].reset);
    CHECK(world.home[pair.error].bytes ==
          "error processing stream for request 5: " + kind + " stream already assigned");
    CHECK(world.relay.size() == 1);
    world.caller.write(pair.data, "hello");
    world.pump();
    CHECK(world.away[3].bytes == "hello");
  }
}

TEST_CASE("a pair that stays incomplete is told so after 30 s, and dropped") {
  World world;
  const auto error = world.open({{"streamtype", "error"}, {"port", "80"}, {"requestid", "7"}});
  world.caller.finish(error);
  world.pump();
  world.pass(29s);
  CHECK(world.relay.size() == 1);
  world.pass(1s);
  CHECK(world.home[error].bytes == "(request=7) timed out waiting for streams");
  CHECK(world.home[error].finished);
  CHECK(world.is_empty());
  CHECK(world.relay.next_deadline() == TimePoint::max());
}

TEST_CASE("each direction ends by itself, and the forward with the error stream") {
  for (const bool caller_first : {true, false}) {
    CAPTURE(caller_first);
    World world;
    const auto pair = world.forward("80", "0");
    const auto caller_ends = [&] {
      world.caller.finish(pair.data);
      world.pump();
      CHECK(world.away[3].finished);
    };
    const auto provider_ends = [&] {
      world.provider.finish(3);
      world.pump();
      CHECK(world.home[pair.data].finished);
    };
    if (caller_first) {
      caller_ends();
      CHECK_FALSE(world.home[pair.data].finished);
      world.provider.write(3, "all the rest");
      provider_ends();
      CHECK(world.home[pair.data].bytes == "all the rest");
    } else {
      provider_ends();
      CHECK_FALSE(world.away[3].finished);
      world.caller.write(pair.data, "all the rest");
      caller_ends();
      CHECK(world.away[3].bytes == "all the rest");
    }
    CHECK_FALSE(world.home[pair.error].finished);
    world.provider.finish(1);
    world.pump();
    CHECK(world.home[pair.error].finished);
    CHECK(world.home[pair.error].bytes == "");
    CHECK(world.is_empty());
  }
}

TEST_CASE("what the provider says of one port is told on its error stream, and the others go on") {
  World world;
  const auto broken = world.forward("81", "0");
  const auto fine = world.forward("80", "1");
  world.provider.write(1, "error forwarding port 81 to pod 1234, uid : connection refused");
  world.provider.reset(3, SpdyReset::cancel);
  world.provider.reset(1, SpdyReset::cancel);
  world.pump();
  CHECK(world.home[broken.error].bytes == "error forwarding port 81 to pod 1234, uid : connection refused");
  CHECK(world.home[broken.error].finished);  // not reset: Go's readers could lose the text
  CHECK(world.home[broken.data].reset);
  CHECK(world.relay.size() == 1);
  world.caller.write(fine.data, "hello");
  world.pump();
  CHECK(world.away[7].bytes == "hello");
}

TEST_CASE("words of a provider move no cursor, and ours stand apart from them") {
  World world;
  world.answers = false;
  const auto pair = world.forward("80", "0");
  world.provider.reply(1);
  world.pump();
  // Reads end anywhere, also within a character.
  for (const char* piece : {"\x1b[2J", "gr\xc3", "\xbcn: refused\r\n", "\xe2\x80"}) {
    world.provider.write(1, piece);
    world.pump();
  }
  world.provider.reset(3, SpdyReset::cancel);
  world.pump();
  CHECK(world.home[pair.error].bytes ==
        "?[2Jgrün: refused  ??; error forwarding port 80 to pod rome/web: the provider refused the stream");
  CHECK(world.home[pair.error].finished);
  CHECK(world.relay.size() == 0);
}

TEST_CASE("a forward whose ends came before it was open is not kept") {
  World world;
  world.connects = false;
  const auto pair = world.forward("80", "0");
  world.caller.finish(pair.data);
  world.pump();
  world.answers = false;
  world.connects = true;
  world.pump();
  world.provider.reply(1);
  world.pump();
  world.provider.reply(3);
  world.provider.finish(3);
  world.pump();
  CHECK(world.relay.size() == 1);  // how it ended may still come
  world.pass(30s);
  CHECK(world.relay.size() == 0);
}

TEST_CASE("a caller that gives its data stream up still hears how the forward ended") {
  World world;
  const auto pair = world.forward("80", "0");
  world.caller.reset(pair.data, SpdyReset::cancel);
  world.pump();
  CHECK(world.away[3].reset);
  CHECK(world.relay.size() == 1);
  world.provider.write(1, "broken pipe");
  world.provider.finish(1);
  world.pump();
  CHECK(world.home[pair.error].bytes == "broken pipe");
  CHECK(world.home[pair.error].finished);
  CHECK(world.is_empty());
}

TEST_CASE("a provider that never says how a forward ended is not waited for for ever") {
  for (const bool is_reset : {true, false}) {
    CAPTURE(is_reset);
    World world;
    const auto pair = world.forward("80", "0");
    if (is_reset) {
      world.caller.reset(pair.data, SpdyReset::cancel);
    } else {
      world.caller.finish(pair.data);
      world.provider.finish(3);
    }
    world.pump();
    world.pass(29s);
    CHECK_FALSE(world.is_empty());
    world.pass(1s);
    CHECK(world.home[pair.error].finished);
    CHECK(world.is_empty());
  }
}

TEST_CASE("a provider that said the end, and a caller that goes on sending, are parted") {
  World world;
  const auto pair = world.forward("80", "0");
  world.provider.finish(3);
  world.provider.finish(1);
  world.pump();
  CHECK(world.relay.size() == 1);
  world.pass(30s);
  CHECK(world.home[pair.data].reset);
  CHECK(world.is_empty());
}

TEST_CASE("forwards wait for the provider, and are told where it cannot be reached; the next one asks again") {
  World world;
  world.connects = false;
  const auto first = world.forward("80", "0");
  const auto second = world.forward("81", "1");
  CHECK(world.relay.wants_provider());
  CHECK(world.home[first.error].replied);
  CHECK_FALSE(world.home[first.data].replied);  // so that nothing is sent that would have to be kept
  world.relay.provider_failed("no way there");
  world.pump();
  CHECK(world.home[first.error].bytes == "error forwarding port 80 to pod rome/web: no way there");
  CHECK(world.home[second.error].bytes == "error forwarding port 81 to pod rome/web: no way there");
  CHECK(world.home[first.data].replied);  // or clients report the reset, not the text
  CHECK(world.home[first.data].reset);
  CHECK(world.is_empty());
  CHECK_FALSE(world.relay.wants_provider());
  world.connects = true;
  const auto third = world.forward("80", "2");
  CHECK(world.home[third.data].replied);
}

TEST_CASE("a provider that does not answer in time, or refuses, is told") {
  for (const bool refuses : {true, false}) {
    CAPTURE(refuses);
    World world;
    world.answers = false;
    const auto pair = world.forward("80", "0");
    if (refuses) {
      world.provider.reset(1, SpdyReset::refused_stream);
      world.pump();
      CHECK(world.home[pair.error].bytes ==
            "error forwarding port 80 to pod rome/web: the provider refused the stream");
    } else {
      world.pass(25s);
      CHECK(world.home[pair.error].bytes ==
            "error forwarding port 80 to pod rome/web: the provider did not open the connection in time");
    }
    CHECK(world.home[pair.data].replied);
    CHECK(world.home[pair.data].reset);
    CHECK(world.is_empty());
  }
}

TEST_CASE("a caller that gives up before the provider has answered leaves nothing") {
  for (const bool connects : {true, false}) {
    CAPTURE(connects);
    World world;
    world.connects = connects;
    world.answers = false;
    const auto pair = world.forward("80", "0");
    world.caller.reset(pair.data, SpdyReset::cancel);
    world.pump();
    CHECK(world.home[pair.error].finished);
    CHECK(world.is_empty());
    CHECK_FALSE(world.relay.wants_provider());
  }
}

TEST_CASE("the end of a caller's input that comes before the provider's answer is not lost") {
  World world;
  world.connects = false;
  const auto pair = world.forward("80", "0");
  world.caller.finish(pair.data);
  world.pump();
  world.connects = true;
  world.pump();
  CHECK(world.home[pair.data].replied);
  CHECK(world.away[3].finished);
}

TEST_CASE("a request may be used again once its forward is over") {
  World world;
  for (int i = 0; i < 3; ++i) {
    const auto pair = world.forward("80", "0");
    CHECK(world.home[pair.data].replied);
    world.caller.finish(pair.data);
    world.provider.finish(static_cast<std::uint32_t>(4 * i + 3));
    world.provider.finish(static_cast<std::uint32_t>(4 * i + 1));
    world.pump();
    CHECK(world.is_empty());
  }
}

TEST_CASE("a stream cannot take the place of one that was reset in a forward under way") {
  for (const std::string kind : {"error", "data"}) {
    CAPTURE(kind);
    World world;
    const auto pair = world.forward("80", "0");
    const auto before = world.asked.size();
    // Not ended by the caller, so that there is something to reset.
    const auto other = world.open({{"streamtype", "error"}, {"port", "80"}, {"requestid", "1"}});
    const auto its_data = world.open({{"streamtype", "data"}, {"port", "80"}, {"requestid", "1"}});
    world.caller.reset(kind == "error" ? other : its_data, SpdyReset::cancel);
    world.pump();
    const auto again = world.open({{"streamtype", kind}, {"port", "80"}, {"requestid", "1"}});
    CHECK(world.home[again].reset);
    CHECK(world.asked.size() == before + 2);
    world.provider.close();
    world.pump();
    world.relay.close("over");
    world.pump();
    CHECK(world.relay.size() == 0);
    CHECK(world.home[pair.error].finished);
  }
}

TEST_CASE("a caller that never ends its error streams fills nothing up with them") {
  World world;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    static_cast<void>(world.open({{"streamtype", "error"}, {"port", "80"}, {"requestid", "0"}}));
    const auto data = world.open({{"streamtype", "data"}, {"port", "80"}, {"requestid", "0"}});
    REQUIRE(world.home[data].replied);
    world.caller.finish(data);
    world.provider.finish(4 * i + 3);
    world.provider.finish(4 * i + 1);
    world.pump();
    REQUIRE(world.is_empty());
  }
}

TEST_CASE("so many pairs and no more") {
  World world({.pairs = 3});
  for (int i = 0; i < 3; ++i) world.forward("80", std::to_string(i));
  const auto refused = world.open({{"streamtype", "error"}, {"port", "80"}, {"requestid", "3"}});
  CHECK(world.home[refused].reset);
  CHECK(world.relay.size() == 3);
  world.caller.reset(3, SpdyReset::cancel);
  world.provider.finish(1);
  world.pump();
  const auto taken = world.open({{"streamtype", "error"}, {"port", "80"}, {"requestid", "3"}});
  CHECK(world.home[taken].replied);
}

TEST_CASE("texts of a provider are bounded") {
  World world({.error_text = 1000});
  const auto pair = world.forward("80", "0");
  for (int i = 0; i < 100; ++i) {
    world.provider.write(1, std::string(100, 'x'));
    world.pump();
  }
  CHECK(world.home[pair.error].bytes.size() == 1000);
}

TEST_CASE("the end of one side is the end of the other, and is told") {
  World world;
  const auto pair = world.forward("80", "0");
  world.provider.close();
  world.pump();
  CHECK(world.relay.has_left(ForwardSide::provider));
  const auto waiting = world.open({{"streamtype", "error"}, {"port", "80"}, {"requestid", "1"}});
  world.relay.close("lost connection to the provider");
  world.pump();
  CHECK(world.home[pair.data].reset);
  CHECK(world.home[waiting].bytes == "error forwarding to pod rome/web: lost connection to the provider");
  CHECK(world.relay.size() == 0);
  CHECK(world.relay.next_deadline() == TimePoint::max());
}

TEST_CASE("a provider that opens streams of its own is refused, and one that goes on is a breach") {
  World world;
  world.forward("80", "0");
  int opened = 0;
  while (world.fed_by_provider && opened < 5000) {
    ++opened;
    if (!world.provider.open({{"streamtype", "data"}, {"port", "22"}, {"requestid", "0"}})) break;
    world.pump();
  }
  CHECK_FALSE(world.fed_by_provider.has_value());
  CHECK(opened > 100);
  CHECK(opened < 1100);
  CHECK(world.relay.size() == 1);  // the owner closes it
}

TEST_CASE("a session is understood however its bytes are cut") {
  for (std::size_t piece = 1; piece < 40; ++piece) {
    CAPTURE(piece);
    World world;
    world.piece = piece;
    const auto pair = world.forward("80", "0");
    world.caller.write(pair.data, "from rome");
    world.caller.finish(pair.data);
    world.provider.write(3, "from milan");
    world.provider.write(1, "a word");
    world.provider.finish(3);
    world.provider.finish(1);
    world.pump();
    CHECK(world.away[3].bytes == "from rome");
    CHECK(world.home[pair.data].bytes == "from milan");
    CHECK(world.home[pair.error].bytes == "a word");
    CHECK(world.is_empty());
  }
}

TEST_CASE("a provider that is lost at whatever byte leaves nothing, and the caller is told") {
  bool was_whole = false;
  for (std::size_t bytes = 0; !was_whole; ++bytes) {
    CAPTURE(bytes);
    World world;
    world.provider_budget = bytes;
    const auto pair = world.forward("80", "0");
    world.provider.write(3, "from milan");
    world.provider.write(1, "a word");
    world.provider.finish(3);
    world.pump();
    was_whole = world.provider_budget > 0;
    world.relay.close("lost connection to the provider");
    world.pump();
    CHECK(world.relay.size() == 0);
    CHECK(world.relay.next_deadline() == TimePoint::max());
    CHECK(world.home[pair.error].finished);
    CHECK(world.home[pair.error].bytes.ends_with("lost connection to the provider"));
    CHECK(std::string_view("from milan").starts_with(world.home[pair.data].bytes));
  }
}
