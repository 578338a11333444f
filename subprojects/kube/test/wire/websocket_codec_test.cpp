#include "kube/wire/websocket_codec.hpp"

#include <doctest/doctest.h>

#include "wire/feeding.hpp"

namespace {

using namespace kube;
using namespace kube::wire;
using kube::test::from_hex;
using kube::test::in_every_cut;
using kube::test::to_hex;
using Kind = WebSocketEvent::Kind;

std::uint32_t fixed_mask() { return 0x37fa213d; }

WebSocketCodec make_codec(WebSocketRole role, std::uint64_t limit = 32 << 20) { return {role, fixed_mask, limit}; }

/// Messages whole, as text; control frames as words.
std::string show(WebSocketCodec& codec) {
  std::string out;
  while (auto event = codec.next()) {
    switch (event->kind) {
      case Kind::message:
        if (event->first) out += event->text ? "text:" : "binary:";
        out += event->bytes;
        if (event->last) out += "\n";
        break;
      case Kind::pong:
        out += "(pong " + event->bytes + ")";
        break;
      case Kind::close:
        out += "(close " + std::to_string(event->code) + " " + event->bytes + ")";
        break;
    }
  }
  return out;
}

std::string output(WebSocketCodec& codec) {
  std::string out;
  while (auto frame = codec.next_output()) out += *frame;
  CHECK(codec.pending_output() == 0);
  return out;
}

}  // namespace

TEST_CASE("the handshake's values are those of RFC 6455") {
  CHECK(websocket_accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  CHECK(is_websocket_key("dGhlIHNhbXBsZSBub25jZQ=="));
  CHECK_FALSE(is_websocket_key("dGhlIHNhbXBsZQ=="));
  CHECK_FALSE(is_websocket_key(""));
  CHECK_FALSE(is_websocket_key("not base64 at all, no!!!"));
}

TEST_CASE("frames are understood however they are cut") {
  struct Case {
    const char* title;
    WebSocketRole role;
    std::string hex;
    std::string events;
    std::string answer;
  };
  const Case cases[] = {
      // RFC 6455 section 5.7.
      {"unmasked text", WebSocketRole::client, "810548656c6c6f", "text:Hello\n", ""},
      {"masked text", WebSocketRole::server, "818537fa213d7f9f4d5158", "text:Hello\n", ""},
      {"fragments", WebSocketRole::client, "010348656c 80026c6f", "text:Hello\n", ""},
      {"a ping between fragments", WebSocketRole::client, "010348656c 890141 80026c6f", "text:Hello\n",
       "8a8137fa213d76"},
      {"ping with a body", WebSocketRole::client, "890548656c6c6f", "", "8a8537fa213d7f9f4d5158"},
      {"pong", WebSocketRole::server, "8a8537fa213d7f9f4d5158", "(pong Hello)", ""},
      {"empty message", WebSocketRole::client, "8200", "binary:\n", ""},
      {"empty last fragment", WebSocketRole::client, "0201618000", "binary:a\n", ""},
      {"close with code and reason", WebSocketRole::client, "880603e974657374", "(close 1001 test)",
       "888237fa213d3412"},
      {"close without a code", WebSocketRole::server, "888000000000", "(close 1005 )", "880203e8"},
      {"nothing counts after the close", WebSocketRole::client, "880203e8 8105ffffff", "(close 1000 )",
       "888237fa213d3412"},
      {"length in two bytes", WebSocketRole::client, "827e0080" + std::string(256, '7'),
       "binary:" + std::string(128, 'w') + "\n", ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    in_every_cut(from_hex(c.hex), [&c](const auto& pieces) {
      WebSocketCodec codec = make_codec(c.role);
      for (const auto piece : pieces) REQUIRE(codec.feed(piece));
      CHECK(show(codec) == c.events);
      CHECK(to_hex(output(codec)) == c.answer);
    });
  }
}

TEST_CASE("a broken rule ends the connection with a close frame") {
  struct Case {
    const char* title;
    WebSocketRole role;
    std::string hex;
    Errc code;
  };
  const Case cases[] = {
      {"reserved bit", WebSocketRole::client, "c10161", Errc::protocol},
      {"masked by a server", WebSocketRole::client, "818537fa213d7f9f4d5158", Errc::protocol},
      {"unmasked by a client", WebSocketRole::server, "810548656c6c6f", Errc::protocol},
      {"unknown data type", WebSocketRole::client, "830161", Errc::protocol},
      {"unknown control type", WebSocketRole::client, "8b0161", Errc::protocol},
      {"fragmented ping", WebSocketRole::client, "090161", Errc::protocol},
      {"long ping", WebSocketRole::client, "897e0080", Errc::protocol},
      {"continuation of nothing", WebSocketRole::client, "800161", Errc::protocol},
      {"message inside a message", WebSocketRole::client, "01016181 0161", Errc::protocol},
      {"length not in its shortest form", WebSocketRole::client, "827e007d", Errc::protocol},
      {"long length not in its shortest form", WebSocketRole::client, "827f000000000000ffff", Errc::protocol},
      {"length with the highest bit", WebSocketRole::client, "827fffffffffffffffff", Errc::protocol},
      {"close frame of one byte", WebSocketRole::client, "880103", Errc::protocol},
      {"close code 999", WebSocketRole::client, "880203e7", Errc::protocol},
      {"message over the limit", WebSocketRole::client, "827e0401", Errc::too_large},
      {"fragments over the limit", WebSocketRole::client, "027e0400" + std::string(2048, '0') + "800161",
       Errc::too_large},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    in_every_cut(from_hex(c.hex), [&c](const auto& pieces) {
      WebSocketCodec codec = make_codec(c.role, 1024);
      Result<void> fed;
      for (const auto piece : pieces) {
        if (fed) fed = codec.feed(piece);
      }
      REQUIRE_FALSE(fed.has_value());
      CHECK(fed.error().code() == c.code);
      CHECK(codec.is_closed());
      const std::string sent = to_hex(output(codec));
      if (c.role == WebSocketRole::server) CHECK(sent == "880203ea");
      CHECK_FALSE(codec.feed("x").has_value());
    });
  }
}

TEST_CASE("what one side sends the other understands, at each size of the length") {
  for (const std::size_t size : {0u, 1u, 125u, 126u, 65535u, 65536u, 200000u}) {
    CAPTURE(size);
    const std::string message(size, 'm');
    for (const auto role : {WebSocketRole::client, WebSocketRole::server}) {
      WebSocketCodec sender = make_codec(role);
      WebSocketCodec receiver =
          make_codec(role == WebSocketRole::client ? WebSocketRole::server : WebSocketRole::client);
      sender.send(message);
      const auto frame = sender.next_output();
      REQUIRE(frame);
      REQUIRE(receiver.feed(*frame));
      CHECK(show(receiver) == "binary:" + message + "\n");
    }
  }
}

TEST_CASE("a mask is put on and taken off at every length, wherever the bytes are cut") {
  std::string message;
  for (std::size_t size = 0; size < 40; ++size) {
    WebSocketCodec sender = make_codec(WebSocketRole::client);
    sender.send(message);
    const std::string frame = sender.next_output().value();
    // By the rule: byte i of the payload with byte i modulo 4 of the mask (RFC 6455 section 5.3).
    const std::string mask = frame.substr(2, 4);
    for (std::size_t i = 0; i < size; ++i) CHECK((frame[6 + i] ^ mask[i % 4]) == message[i]);
    for (std::size_t cut = 0; cut <= frame.size(); ++cut) {
      WebSocketCodec receiver = make_codec(WebSocketRole::server);
      REQUIRE(receiver.feed(frame.substr(0, cut)));
      REQUIRE(receiver.feed(frame.substr(cut)));
      CHECK(show(receiver) == "binary:" + message + "\n");
    }
    message += static_cast<char>('A' + size);
  }
}

TEST_CASE("a message of two parts is one") {
  WebSocketCodec sender = make_codec(WebSocketRole::client);
  WebSocketCodec receiver = make_codec(WebSocketRole::server);
  sender.send_parts("abc", "defghijklmnop");
  REQUIRE(receiver.feed(output(sender)));
  CHECK(show(receiver) == "binary:abcdefghijklmnop\n");
}

TEST_CASE("pings overtake messages, a flood is not queued for ever, nothing follows a close frame") {
  WebSocketCodec server = make_codec(WebSocketRole::server);
  server.send("first");
  server.ping("p");
  CHECK(to_hex(output(server)) ==
        "890170"
        "82056669727374");
  for (int i = 0; i < 10000; ++i) REQUIRE(server.feed(from_hex("898000000000")));
  CHECK(server.pending_output() <= 64 * 2);
  output(server);
  server.close(WebSocketClose::normal, "done");
  server.close(WebSocketClose::normal);
  server.send("late");
  server.ping();
  CHECK(to_hex(output(server)) == "880603e8646f6e65");
}
