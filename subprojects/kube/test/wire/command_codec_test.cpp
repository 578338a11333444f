#include "kube/wire/command_codec.hpp"

#include <doctest/doctest.h>

#include "wire/feeding.hpp"

namespace {

using namespace kube;
using namespace kube::wire;
using kube::test::from_hex;
using kube::test::to_hex;
using Kind = CommandEvent::Kind;

constexpr CommandStreams all_streams{.in = true, .out = true, .err = true, .tty = false};
constexpr CommandStreams terminal{.in = true, .out = true, .err = false, .tty = true};

std::uint32_t no_mask() { return 0; }

struct Pair {
  std::unique_ptr<CommandCodec> client;
  std::unique_ptr<CommandCodec> server;
};

Pair make_pair(std::string_view protocol, CommandStreams streams) {
  if (protocol.starts_with("spdy ")) {
    const CommandVersion version = command_version(protocol.substr(5)).value();
    return {make_spdy_command(CommandRole::client, version, streams),
            make_spdy_command(CommandRole::server, version, streams)};
  }
  const auto websocket = websocket_command_protocol(protocol).value();
  return {make_websocket_command(CommandRole::client, websocket, streams, no_mask),
          make_websocket_command(CommandRole::server, websocket, streams, no_mask)};
}

std::string show(CommandCodec& codec) {
  std::string out;
  while (auto event = codec.next()) {
    const std::string channel(to_string(event->channel));
    switch (event->kind) {
      case Kind::ready:
        out += "ready;";
        break;
      case Kind::data:
        out += channel + "=" + event->bytes + ";";
        break;
      case Kind::end:
        out += channel + " ends;";
        break;
      case Kind::refused:
        out += channel + " refused;";
        break;
      case Kind::pong:
        out += "pong;";
        break;
      case Kind::closed:
        out += "closed" + event->bytes + ";";
        break;
    }
  }
  return out;
}

/// Moves frames, cut into pieces of `piece` bytes, until neither side has any.
void exchange(Pair& pair, std::size_t piece) {
  const auto carry = [piece](CommandCodec& from, CommandCodec& to) {
    std::string bytes;
    while (auto frame = from.next_output()) bytes += *frame;
    for (std::size_t i = 0; i < bytes.size(); i += piece) REQUIRE(to.feed(std::string_view(bytes).substr(i, piece)));
    return !bytes.empty();
  };
  while (carry(*pair.client, *pair.server) || carry(*pair.server, *pair.client)) {
  }
}

}  // namespace

TEST_CASE("a session runs over every protocol, however it is cut") {
  for (const std::string_view protocol :
       {"spdy v5.channel.k8s.io", "spdy v4.channel.k8s.io", "spdy v2.channel.k8s.io", "v5.channel.k8s.io",
        "v4.channel.k8s.io", "v4.base64.channel.k8s.io", "channel.k8s.io", "base64.channel.k8s.io", ""}) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1} << 20}) {
      CAPTURE(protocol);
      CAPTURE(piece);
      Pair pair = make_pair(protocol, all_streams);
      pair.client->start();
      pair.server->start();
      exchange(pair, piece);
      CHECK(show(*pair.client) == "ready;");
      CHECK(show(*pair.server) == "ready;");

      CHECK(pair.client->write(CommandChannel::in, "h"));
      CHECK(pair.server->write(CommandChannel::out, "o"));
      CHECK(pair.server->write(CommandChannel::err, "e"));
      exchange(pair, piece);
      CHECK(show(*pair.server) == "stdin=h;");
      CHECK(show(*pair.client) == "stdout=o;stderr=e;");

      const bool half_close = pair.client->can_finish();
      CHECK(half_close == (protocol.starts_with("spdy") || protocol.starts_with("v5")));
      pair.client->finish(CommandChannel::in);
      exchange(pair, piece);
      CHECK(show(*pair.server) == (half_close ? "stdin ends;" : ""));
      CHECK(pair.client->write(CommandChannel::in, "late") != half_close);
      exchange(pair, piece);
      show(*pair.server);

      CHECK(pair.server->write(CommandChannel::error, "x"));
      for (const auto channel : {CommandChannel::out, CommandChannel::err, CommandChannel::error}) {
        pair.server->finish(channel);
      }
      pair.server->close();
      exchange(pair, piece);
      const std::string ends = protocol.starts_with("spdy") ? "stdout ends;stderr ends;error ends;" : "";
      const std::string events = show(*pair.client);
      CHECK(events.starts_with("error=x;" + ends));
      CHECK(events.ends_with("closed;"));
      CHECK_FALSE(pair.server->write(CommandChannel::out, "after the end"));
    }
  }
}

TEST_CASE("sizes of a terminal have a channel of their own") {
  for (const std::string_view protocol : {"spdy v4.channel.k8s.io", "v5.channel.k8s.io", "v4.channel.k8s.io"}) {
    CAPTURE(protocol);
    Pair pair = make_pair(protocol, terminal);
    pair.client->start();
    pair.server->start();
    exchange(pair, 3);
    CHECK(show(*pair.server) == "ready;");
    CHECK(pair.client->write(CommandChannel::resize, "{}"));
    exchange(pair, 1 << 20);
    CHECK(show(*pair.server) == "resize={};");
  }
}

TEST_CASE("pings are answered and the answers told") {
  for (const std::string_view protocol : {"spdy v4.channel.k8s.io", "v5.channel.k8s.io"}) {
    CAPTURE(protocol);
    Pair pair = make_pair(protocol, all_streams);
    pair.client->start();
    pair.server->start();
    exchange(pair, 5);
    show(*pair.client);
    show(*pair.server);
    pair.client->ping();
    pair.client->ping();
    pair.server->ping();
    exchange(pair, 5);
    CHECK(show(*pair.client) == "pong;pong;");
    CHECK(show(*pair.server) == "pong;");
  }
}

TEST_CASE("a server of v2 expects no stream for sizes") {
  Pair pair = make_pair("spdy v2.channel.k8s.io", terminal);
  pair.client->start();
  exchange(pair, 1 << 20);
  CHECK(show(*pair.server) == "ready;");
}

TEST_CASE("a server waits for every announced stream and leaves others unanswered") {
  auto client = make_spdy_command(CommandRole::client, CommandVersion::v4, all_streams);
  auto server = make_spdy_command(CommandRole::server, CommandVersion::v4, {.in = false, .out = true});
  Pair pair{std::move(client), std::move(server)};
  pair.client->start();
  exchange(pair, 5);
  // The client's second stream is stdin, which the request did not announce.
  CHECK(show(*pair.server) == "");
  CHECK(show(*pair.client) == "");
}

TEST_CASE("a stream that the server resets instead of answering is refused") {
  auto client = make_spdy_command(CommandRole::client, CommandVersion::v4, all_streams);
  client->start();
  REQUIRE(client->feed(from_hex("80030003000000080000000100000005")));
  CHECK(show(*client) == "error refused;");
}

TEST_CASE("what comes on a channel of the other direction is dropped") {
  for (const std::string_view protocol : {"spdy v4.channel.k8s.io", "v5.channel.k8s.io"}) {
    CAPTURE(protocol);
    Pair pair = make_pair(protocol, {.in = true, .out = true, .err = true, .tty = true});
    pair.client->start();
    pair.server->start();
    exchange(pair, 1 << 20);
    for (const auto channel : {CommandChannel::in, CommandChannel::resize}) CHECK(pair.server->write(channel, "x"));
    for (const auto channel : {CommandChannel::out, CommandChannel::err, CommandChannel::error})
      CHECK(pair.client->write(channel, "x"));
    CHECK(pair.server->write(CommandChannel::out, "fine"));
    CHECK(pair.client->write(CommandChannel::in, "fine"));
    exchange(pair, 1 << 20);
    CHECK(show(*pair.client) == "ready;stdout=fine;");
    CHECK(show(*pair.server) == "ready;stdin=fine;");
  }
}

TEST_CASE("a server of v1 ends its side of stdin at once") {
  Pair pair = make_pair("spdy channel.k8s.io", {.in = true, .out = true});
  pair.client->start();
  exchange(pair, 1 << 20);
  CHECK(show(*pair.client) == "ready;stdin ends;");
}

TEST_CASE("messages of WebSocket have the numbers of the protocol") {
  auto server = make_websocket_command(CommandRole::server, {CommandVersion::v4}, all_streams, no_mask);
  server->start();
  server->write(CommandChannel::out, "out");
  server->write(CommandChannel::error, "{}");
  server->close();
  std::string sent;
  while (auto frame = server->next_output()) sent += *frame;
  CHECK(to_hex(sent) ==
        "820101"
        "8204016f7574"
        "8203037b7d"
        "880203e8");

  auto text = make_websocket_command(CommandRole::server, {CommandVersion::v1, true}, all_streams, no_mask);
  text->start();
  text->write(CommandChannel::out, "out");
  sent.clear();
  while (auto frame = text->next_output()) sent += *frame;
  CHECK(sent == std::string("\x81\x01") + "1" + "\x81\x05" + "1b3V0");
}

TEST_CASE("the empty first message names the lowest channel that the request asked for") {
  struct Case {
    CommandStreams streams;
    const char* sent;
  };
  const Case cases[] = {{{.out = true, .err = true}, "820101"}, {{.err = true}, "820102"}, {{.in = true}, "820103"}};
  for (const Case& c : cases) {
    auto server = make_websocket_command(CommandRole::server, {CommandVersion::v5}, c.streams, no_mask);
    server->start();
    CHECK(to_hex(server->next_output().value()) == c.sent);
  }
}

TEST_CASE("a client of v5 may end stdin, and nothing else of that form") {
  struct Case {
    const char* title;
    std::string hex;  // a masked message with mask 0
    bool good;
    std::string events;
  };
  const Case cases[] = {
      {"end of stdin", "828200000000ff00", true, "stdin ends;"},
      {"end of stdin in two fragments", "028100000000ff 808100000000 00", true, "stdin ends;"},
      {"end of stdin twice", "828200000000ff00828200000000ff00", true, "stdin ends;"},
      {"data after the end is dropped", "828200000000ff00 82820000000000 61", true, "stdin ends;"},
      {"end of a channel of the server", "828200000000ff01", true, ""},
      {"no channel", "828100000000ff", false, ""},
      {"unknown channel", "828200000000ff09", false, ""},
      {"three bytes", "828300000000ff0000", false, ""},
      {"unknown number", "8282000000000961", true, ""},
      {"text", "818200000000 0061", false, ""},
      {"empty message", "828000000000", true, ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    kube::test::in_every_cut(from_hex(c.hex), [&c](const auto& pieces) {
      auto server = make_websocket_command(CommandRole::server, {CommandVersion::v5}, all_streams, no_mask);
      server->start();
      server->next();
      Result<void> fed;
      for (const auto piece : pieces) {
        if (fed) fed = server->feed(piece);
      }
      CHECK(fed.has_value() == c.good);
      CHECK(show(*server) == c.events);
    });
  }
}

TEST_CASE("255 is no close before v5") {
  auto server = make_websocket_command(CommandRole::server, {CommandVersion::v4}, all_streams, no_mask);
  server->start();
  REQUIRE(server->feed(from_hex("828200000000ff00")));
  CHECK(show(*server) == "ready;");
}

TEST_CASE("an abnormal close says why") {
  auto client = make_websocket_command(CommandRole::client, {CommandVersion::v5}, all_streams, no_mask);
  REQUIRE(client->feed(from_hex("880603f362616421")));
  CHECK(show(*client) == "closedWebSocket closed with code 1011: bad!;");
}

TEST_CASE("a long base64 message is refused") {
  auto server = make_websocket_command(CommandRole::server, {CommandVersion::v1, true}, all_streams, no_mask);
  std::string head = from_hex("81ff000000000020000000000000");
  REQUIRE(server->feed(head));
  const std::string much(1 << 20, 'A');
  REQUIRE(server->feed(much));
  CHECK_FALSE(server->feed("A").has_value());
}
