#include "kube/wire/spdy_session.hpp"

#include <doctest/doctest.h>
#include <openssl/evp.h>
#include <zlib.h>

#include "kube/testing/allocated_bytes.hpp"
#include "wire/feeding.hpp"
#include "wire/spdy_dictionary.hpp"

namespace {

using namespace kube;
using namespace kube::wire;
using kube::test::from_hex;
using kube::test::in_every_cut;
using kube::test::to_hex;
using Kind = SpdyEvent::Kind;

// Made by Go's framer: two streams through one compressor.
constexpr std::string_view go_error_stream =
    "80030001000000290000000100000000000078f9e3c6a7c26260606004a7b392a2d4c45c6851c29a0a0a6800000000ffff";
constexpr std::string_view go_stdin_stream = "800300010000001700000003000000000000c22e555c92929907000000ffff";
constexpr std::string_view go_replies =
    "80030002000000140000000178f9e3c6a7c26260606000000000ffff 800300020000000c00000003026100000000ffff";
// Made by zlib at level 9: three headers each.
constexpr std::string_view zlib_streams =
    "800300010000003c0000000100000000000078f9e3c6a7c202253a703a2b294a4dcc851625aca9a0808614cb45a024cc64610024398b2091"
    "98094adc8c0600000000ffff 800300010000001800000003000000000000c2aa15540a2512d209000000ffff";

/// Events as short lines, with the pieces of one stream's data joined.
std::string show(SpdySession& session) {
  std::string out;
  std::string last;
  while (auto event = session.next()) {
    const std::string stream = std::to_string(event->stream);
    std::string line;
    switch (event->kind) {
      case Kind::opened:
        line = "opened " + stream;
        for (const auto& [name, value] : event->headers) line += " " + name + "=" + value;
        break;
      case Kind::replied:
        line = "replied " + stream;
        break;
      case Kind::data:
        line = "data " + stream + " ";
        break;
      case Kind::finished:
        line = "finished " + stream;
        break;
      case Kind::reset:
        line = "reset " + stream + " code " + std::to_string(event->code);
        break;
      case Kind::pong:
        line = "pong " + std::to_string(event->code);
        break;
      case Kind::going_away:
        line = "going away " + std::to_string(event->code);
        break;
    }
    if (event->kind == Kind::data && last == line) {
      out.pop_back();
    } else {
      out += line;
    }
    last = line;
    out += event->bytes + "\n";
  }
  return out;
}

std::string output(SpdySession& session) {
  std::string out;
  while (auto frame = session.next_output()) out += *frame;
  CHECK(session.pending_output() == 0);
  return out;
}

/// Moves frames between two sessions until neither has any.
void exchange(SpdySession& a, SpdySession& b) {
  while (true) {
    const std::string there = output(a);
    if (!there.empty()) CHECK(b.feed(there));
    const std::string back = output(b);
    if (!back.empty()) CHECK(a.feed(back));
    if (there.empty() && back.empty()) return;
  }
}

}  // namespace

TEST_CASE("the dictionary of SPDY is the published one") {
  const std::string& dictionary = spdy_dictionary();
  CHECK(dictionary.size() == 1423);
  CHECK(adler32(adler32(0, nullptr, 0), reinterpret_cast<const Bytef*>(dictionary.data()),
                static_cast<uInt>(dictionary.size())) == 0xe3c6a7c2);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(dictionary.data(), dictionary.size(), digest, &size, EVP_sha256(), nullptr);
  CHECK(to_hex({reinterpret_cast<const char*>(digest), size}) ==
        "51d27341373f923f3cd88e1eb7162aeaa3723d7585ff2399201dc06498407f02");
}

TEST_CASE("frames of other implementations are understood however they are cut") {
  struct Case {
    const char* title;
    std::string hex;
    std::string events;
  };
  const Case cases[] = {
      {"streams of Go", std::string(go_error_stream) + std::string(go_stdin_stream),
       "opened 1 streamtype=error\nopened 3 streamtype=stdin\n"},
      {"streams of zlib", std::string(zlib_streams),
       "opened 1 streamtype=error port=80 requestid=0\nopened 3 streamtype=data port=80 requestid=0\n"},
      {"goaway", "80030007000000080000000500000000", "going away 0\n"},
      {"answer to our ping", "800300060000000400000002", "pong 2\n"},
      {"types without a meaning here",
       "800300040000000c00000001 0100000400000064 80030009000000080000000100001000"
       "800300070000000800000000 00000001",
       "going away 1\n"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    in_every_cut(from_hex(c.hex), [&c](const auto& pieces) {
      SpdySession session(SpdyRole::server);
      for (const auto piece : pieces) REQUIRE(session.feed(piece));
      // Go writes the names as they are; look-ups do not mind.
      std::string events = show(session);
      for (std::size_t at; (at = events.find("streamType")) != std::string::npos;) events[at + 6] = 't';
      CHECK(events == c.events);
    });
  }
}

TEST_CASE("a recorded exec is understood by the server however it is cut") {
  const std::string recording =
      from_hex(std::string(go_error_stream) + std::string(go_stdin_stream) + "000000030000000368690a 0000000301000000" +
               "80030003000000080000000100000005 800300060000000400000001");
  in_every_cut(recording, [](const auto& pieces) {
    SpdySession session(SpdyRole::server);
    std::string events;
    for (const auto piece : pieces) {
      REQUIRE(session.feed(piece));
      while (auto event = session.next()) {
        if (event->kind == Kind::opened) session.reply(event->stream);
        if (event->kind == Kind::data) events += event->bytes;
        if (event->kind == Kind::finished) events += "|finished " + std::to_string(event->stream);
        if (event->kind == Kind::reset) events += "|reset " + std::to_string(event->stream);
      }
    }
    // A feed that holds the data together with the stream's opening finds it unanswered: it is dropped, as in Go.
    const bool dropped = events.find("hi\n") == std::string::npos;
    CHECK((dropped || events == "hi\n|finished 3|reset 1"));
    const std::string sent = to_hex(output(session));
    CHECK(sent.starts_with("800300060000000400000001"));  // the answer to the ping overtakes
  });
}

TEST_CASE("replies of Go are understood by the client however they are cut") {
  in_every_cut(from_hex(go_replies), [](const auto& pieces) {
    SpdySession session(SpdyRole::client);
    CHECK(session.open({{"streamtype", "error"}}) == 1);
    CHECK(session.open({{"streamtype", "stdin"}}) == 3);
    for (const auto piece : pieces) REQUIRE(session.feed(piece));
    CHECK(show(session) == "replied 1\nreplied 3\n");
  });
}

TEST_CASE("frames without header blocks are written to the letter") {
  SpdySession session(SpdyRole::client);
  REQUIRE(session.open({{"streamtype", "error"}}));
  REQUIRE(session.open({{"streamtype", "stdin"}}));
  REQUIRE(session.feed(from_hex(go_replies)));
  output(session);

  CHECK(session.write(3, "hi\n"));
  CHECK(to_hex(output(session)) == "000000030000000368690a");
  session.finish(3);
  CHECK(to_hex(output(session)) == "0000000301000000");
  CHECK(session.ping() == 1);
  CHECK(to_hex(output(session)) == "800300060000000400000001");
  session.reset(3, SpdyReset::cancel);
  CHECK(to_hex(output(session)) == "80030003000000080000000300000005");
  session.close();
  CHECK(to_hex(output(session)) ==
        "80030003000000080000000100000005"
        "80030007000000080000000000000000");
  CHECK_FALSE(session.write(1, "too late"));
}

TEST_CASE("header blocks are one zlib stream, and each ends with a sync flush") {
  SpdyHeaderEncoder encoder;
  const std::string first = encoder.encode({{"streamType", "error"}}).value();
  CHECK(to_hex(first) ==
        "7801"
        "001b00e4ff"
        "00000001"
        "0000000a" +
            to_hex("streamtype") + "00000005" + to_hex("error") + "000000ffff");
  const std::string second = encoder.encode({{"b", "1"}, {"B", "2"}, {"c", ""}}).value();
  CHECK(to_hex(second).ends_with("0000ffff"));

  SpdyHeaderDecoder decoder(1024);
  CHECK(decoder.decode(first).value() == SpdyHeaders{{"streamtype", "error"}});
  CHECK(decoder.decode(second).value() == SpdyHeaders{{"b", "1"}, {"b", "2"}, {"c", ""}});
  CHECK(encoder.encode({{"long", std::string(4000, 'x')}}).error().code() == Errc::too_large);
}

TEST_CASE(
    "blocks refer to what was said up to 32 KiB before, wherever a peer ends them, and little is held between them") {
  for (const int flush : {Z_SYNC_FLUSH, Z_PARTIAL_FLUSH}) {
    CAPTURE(flush);
    z_stream peer{};
    REQUIRE(deflateInit(&peer, Z_BEST_COMPRESSION) == Z_OK);
    const std::string& dictionary = spdy_dictionary();
    deflateSetDictionary(&peer, reinterpret_cast<const Bytef*>(dictionary.data()),
                         static_cast<uInt>(dictionary.size()));
    const std::size_t before = kube::testing::allocated_bytes();
    SpdyHeaderDecoder decoder(1 << 16);
    for (int i = 0; i < 200; ++i) {
      // Of three hundred bytes on average: by the end, the first are out of reach.
      const std::string value = std::to_string(i) + std::string(static_cast<std::size_t>(i % 7) * 100, 'v');
      std::string plain;
      for (const std::string& word :
           {std::string(3, '\0') + '\1', std::string("\0\0\0\4", 4), std::string("name"),
            std::string({0, 0, static_cast<char>(value.size() >> 8), static_cast<char>(value.size() & 0xff)}), value})
        plain += word;
      std::string block(2000, '\0');
      peer.next_in = reinterpret_cast<Bytef*>(plain.data());
      peer.avail_in = static_cast<uInt>(plain.size());
      peer.next_out = reinterpret_cast<Bytef*>(block.data());
      peer.avail_out = static_cast<uInt>(block.size());
      REQUIRE(deflate(&peer, flush) == Z_OK);
      block.resize(block.size() - peer.avail_out);
      const auto heard = decoder.decode(block);
      REQUIRE(heard);
      CHECK(*heard == SpdyHeaders{{"name", value}});
      if (i == 2 && flush == Z_SYNC_FLUSH) CHECK(kube::testing::allocated_bytes() - before < 8 * 1024);
    }
    deflateEnd(&peer);
  }
}

TEST_CASE("a block that decompresses to more than the limit is refused") {
  SpdyHeaderEncoder encoder;
  const std::string block = encoder.encode({{"x", std::string(2000, 'x')}}).value();
  CHECK(SpdyHeaderDecoder(1000).decode(block).error().code() == Errc::too_large);
  CHECK(SpdyHeaderDecoder(3000).decode(block).has_value());
}

TEST_CASE("data that waits goes out together, up to 32 KiB, and never past anything else") {
  SpdySession client(SpdyRole::client);
  SpdySession server(SpdyRole::server);
  const auto one = client.open({{"streamtype", "stdin"}}).value();
  const auto two = client.open({{"streamtype", "stdout"}}).value();
  exchange(client, server);
  for (const std::uint32_t stream : {one, two}) server.reply(stream);
  exchange(client, server);
  show(server);
  show(client);
  const auto sent = [&client] {
    std::vector<std::size_t> sizes;
    while (auto frame = client.next_output()) sizes.push_back(frame->size() - 8);
    CHECK(client.pending_output() == 0);
    return sizes;
  };
  for (int i = 0; i < 3; ++i) CHECK(client.write(one, std::string(100, 'a')));
  CHECK(client.pending_output() == 308);
  CHECK(sent() == std::vector<std::size_t>{300});
  // What is on its way already does not grow.
  CHECK(client.write(one, "x"));
  CHECK(client.next_output());
  CHECK(client.write(one, "y"));
  CHECK(sent() == std::vector<std::size_t>{1});
  CHECK(client.write(one, std::string(20000, 'a')));
  CHECK(client.write(one, std::string(20000, 'b')));
  CHECK(sent() == std::vector<std::size_t>{32768, 7232});
  // Of two streams each keeps its place, and an end stays after its data.
  CHECK(client.write(one, "first"));
  CHECK(client.write(two, "second"));
  CHECK(client.write(one, "third"));
  client.finish(one);
  CHECK(client.write(two, "4th"));
  CHECK(client.write(two, "5th"));
  while (auto frame = client.next_output()) CHECK(server.feed(*frame));
  CHECK(show(server) == "data 1 first\ndata 3 second\ndata 1 third\nfinished 1\ndata 3 4th5th\n");
}

TEST_CASE("two sessions talk: reply, data both ways, half-close, end") {
  SpdySession client(SpdyRole::client);
  SpdySession server(SpdyRole::server);
  const auto stream = client.open({{"streamtype", "stdin"}}).value();
  CHECK_FALSE(client.write(stream, "before the reply"));
  exchange(client, server);
  CHECK(show(server) == "opened 1 streamtype=stdin\n");
  server.reply(stream);
  exchange(client, server);
  CHECK(show(client) == "replied 1\n");

  const std::string much(100000, 'x');
  CHECK(client.write(stream, much));
  CHECK(client.pending_output() > much.size());
  std::size_t longest = 0;
  while (auto frame = client.next_output()) {
    longest = std::max(longest, frame->size());
    CHECK(server.feed(*frame));
  }
  CHECK(longest == 32 * 1024 + 8);
  CHECK(show(server) == "data 1 " + much + "\n");

  client.finish(stream);
  CHECK_FALSE(client.write(stream, "after the end"));
  CHECK(server.write(stream, "still open"));
  exchange(client, server);
  CHECK(show(server) == "finished 1\n");
  CHECK(show(client) == "data 1 still open\n");
  server.finish(stream);
  server.finish(stream);
  exchange(client, server);
  CHECK(show(client) == "finished 1\n");
  CHECK(client.open_streams() == 0);
  CHECK(server.open_streams() == 0);
}

TEST_CASE("data before the reply is dropped") {
  SpdySession server(SpdyRole::server);
  REQUIRE(server.feed(from_hex(std::string(go_error_stream) + "000000010000000368690a")));
  CHECK(show(server).starts_with("opened 1"));
  server.reply(1);
  REQUIRE(server.feed(from_hex("000000010000000368690a")));
  CHECK(show(server) == "data 1 hi\n\n");
}

TEST_CASE("a stream id that does not rise is reset and disturbs nobody") {
  SpdySession client(SpdyRole::client);
  SpdySession server(SpdyRole::server);
  for (int i = 0; i < 3; ++i) REQUIRE(client.open({{"n", std::to_string(i)}}));
  std::string frames = output(client);
  std::string again = from_hex(go_error_stream);
  REQUIRE(server.feed(frames));
  show(server);
  for (const std::uint32_t id : {1u, 3u, 5u}) server.reply(id);
  output(server);
  // A fourth stream with the id of the second.
  REQUIRE(client.open({{"n", "3"}}));
  std::string late = output(client);
  late[11] = 3;
  REQUIRE(server.feed(late));
  CHECK(to_hex(output(server)) == "80030003000000080000000300000001");
  CHECK(server.write(3, "x"));
  CHECK(server.open_streams() == 3);
}

TEST_CASE("streams over the limit are refused until others have ended") {
  SpdySession client(SpdyRole::client);
  SpdySession server(SpdyRole::server, {.streams = 2});
  for (int i = 0; i < 3; ++i) REQUIRE(client.open({{"n", std::to_string(i)}}));
  exchange(client, server);
  CHECK(show(server) == "opened 1 n=0\nopened 3 n=1\n");
  CHECK(show(client) == "reset 5 code 3\n");
  client.reset(1, SpdyReset::cancel);
  REQUIRE(client.open({{"n", "3"}}));
  exchange(client, server);
  CHECK(show(server) == "reset 1 code 5\nopened 7 n=3\n");
}

TEST_CASE("a session that has all its streams refuses more, and goes on") {
  SpdySession client(SpdyRole::client), server(SpdyRole::server);
  const std::uint32_t first = client.open({{"streamtype", "stdin"}}).value();
  REQUIRE(server.feed(output(client)));
  server.reply(first);
  server.forget_headers();
  REQUIRE(client.feed(output(server)));
  show(client), show(server);
  CHECK_FALSE(server.open({}).has_value());
  const std::uint32_t second = client.open({{"streamtype", "stdout"}}).value();
  CHECK(client.write(first, "hello"));
  REQUIRE(server.feed(output(client)));
  CHECK(show(server) == "data 1 hello\n");
  REQUIRE(client.feed(output(server)));
  CHECK(show(client) == "reset " + std::to_string(second) + " code 3\n");
  CHECK(server.write(first, "and back"));
  REQUIRE(client.feed(output(server)));
  CHECK(show(client) == "data 1 and back\n");
}

TEST_CASE("data behind the end of a stream resets it") {
  SpdySession server(SpdyRole::server);
  REQUIRE(server.feed(from_hex(go_error_stream)));
  server.reply(1);
  show(server);
  output(server);
  REQUIRE(server.feed(from_hex("0000000101000000 000000010000000178")));
  CHECK(show(server) == "finished 1\nreset 1 code 1\n");
  CHECK(to_hex(output(server)) == "80030003000000080000000100000009");
}

TEST_CASE("a ping is echoed, ours come back as pongs, a flood is not queued for ever") {
  SpdySession server(SpdyRole::server);
  REQUIRE(server.feed(from_hex("800300060000000400000001")));
  CHECK(to_hex(output(server)) == "800300060000000400000001");
  CHECK(server.ping() == 2);
  CHECK(to_hex(output(server)) == "800300060000000400000002");
  REQUIRE(server.feed(from_hex("800300060000000400000002")));
  CHECK(show(server) == "pong 2\n");
  for (int i = 0; i < 10000; ++i) REQUIRE(server.feed(from_hex("800300060000000400000001")));
  CHECK(server.pending_output() <= 64 * 12);
}

TEST_CASE("a broken rule ends the connection with GOAWAY") {
  struct Case {
    const char* title;
    std::string hex;
    Errc code;
  };
  const Case cases[] = {
      {"unknown type", "8003000500000000", Errc::protocol},
      {"credentials", "8003000a00000000", Errc::protocol},
      {"ping 0", "800300060000000400000000", Errc::protocol},
      {"ping with flags", "800300060100000400000001", Errc::protocol},
      {"ping of five bytes", "80030006000000050000000100", Errc::protocol},
      {"reset without a reason", "80030003000000080000000100000000", Errc::protocol},
      {"reset of stream 0", "80030003000000080000000000000005", Errc::protocol},
      {"goaway of four bytes", "800300070000000400000001", Errc::protocol},
      {"window update of four bytes", "800300090000000400000001", Errc::protocol},
      {"settings that do not add up", "800300040000000400000001", Errc::protocol},
      {"data for stream 0", "000000000000000178", Errc::protocol},
      {"stream 0", "80030001000000290000000000000000000078f9e3c6a7c26260606004a7b392a2d4c45c6851c29a0a0a6800000000ffff",
       Errc::protocol},
      {"headers that are no zlib", "800300010000000e00000001000000000000deadbeef", Errc::protocol},
      {"a block that is cut", "80030001000000100000000100000000000078f9e3c6a7c2", Errc::protocol},
      {"another dictionary", "80030001000000100000000100000000000078f9e3c6a7c3", Errc::protocol},
      {"data frame of 16 MiB", "0000000100ffffff", Errc::too_large},
      {"control frame of 16 MiB", "8003000100ffffff", Errc::too_large},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    in_every_cut(from_hex(c.hex), [&c](const auto& pieces) {
      SpdySession session(SpdyRole::server);
      Result<void> fed;
      for (const auto piece : pieces) {
        if (fed) fed = session.feed(piece);
      }
      REQUIRE_FALSE(fed.has_value());
      CHECK(fed.error().code() == c.code);
      CHECK(to_hex(output(session)).ends_with("80030007000000080000000000000001"));
      CHECK_FALSE(session.feed("x").has_value());
    });
  }
}

TEST_CASE("a peer that opens bad streams without end is cut off") {
  SpdySession server(SpdyRole::server, {.streams = 0});
  SpdySession client(SpdyRole::client);
  Result<void> fed;
  for (int i = 0; i < 2000 && fed; ++i) {
    REQUIRE(client.open({}));
    fed = server.feed(output(client));
  }
  REQUIRE_FALSE(fed.has_value());
  CHECK(fed.error().code() == Errc::too_large);
}
