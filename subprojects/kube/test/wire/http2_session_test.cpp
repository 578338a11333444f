#include "kube/wire/http2_session.hpp"

#include <doctest/doctest.h>

#include "support/h2_server.hpp"

namespace {

using namespace kube;
using namespace kube::wire;
using kube::test::H2Server;

HttpRequest get(std::string target) {
  HttpRequest request;
  request.target = std::move(target);
  return request;
}

struct Pair {
  Http2Session client;
  H2Server server;
  std::vector<http2::Event> events;

  explicit Pair(const Http2Options& options = {}, std::uint32_t max_streams = 100)
      : client(options), server(max_streams) {}

  bool step() {
    std::string up;
    REQUIRE(client.take_output(up).has_value());
    if (!up.empty()) server.feed(up);
    const std::string down = server.output();
    if (!down.empty()) {
      const auto fed = client.feed(down);
      CAPTURE((fed ? std::string() : fed.error().text()));
      REQUIRE(fed.has_value());
    }
    for (auto& event : client.take_events()) events.push_back(std::move(event));
    return !up.empty() || !down.empty();
  }
  void settle() {
    while (step()) {
    }
  }
  http2::StreamId send(HttpRequest request) {
    auto id = client.submit(request, {"https", "rome:6443"});
    REQUIRE(id.has_value());
    return *id;
  }
  template <class T>
  std::vector<T> all() const {
    std::vector<T> found;
    for (const auto& event : events)
      if (const auto* match = std::get_if<T>(&event)) found.push_back(*match);
    return found;
  }
};

/// The events as text, with the pieces of one body joined.
std::string summary(const std::vector<http2::Event>& events) {
  std::string out;
  bool in_data = false;
  for (const auto& event : events) {
    const auto* data = std::get_if<http2::Data>(&event);
    if (data != nullptr && in_data) {
      out += data->bytes;
      continue;
    }
    in_data = data != nullptr;
    if (data != nullptr) out += " data" + std::to_string(data->stream) + "=" + data->bytes;
    if (const auto* head = std::get_if<http2::Headers>(&event)) {
      out += " head" + std::to_string(head->stream) + "=" + std::to_string(head->status);
      for (const auto& [name, value] : head->fields) out += "," + name + ":" + value;
    }
    if (const auto* end = std::get_if<http2::End>(&event)) out += " end" + std::to_string(end->stream);
    if (const auto* reset = std::get_if<http2::Reset>(&event))
      out += " reset" + std::to_string(reset->stream) + (reset->unprocessed ? "!" : "");
    if (const auto* away = std::get_if<http2::GoAway>(&event)) out += " goaway" + std::to_string(away->last_stream);
    if (const auto* ack = std::get_if<http2::PingAck>(&event)) out += " pong" + std::to_string(ack->payload);
  }
  return out;
}

}  // namespace

TEST_CASE("a request and its answer pass through, with prefix, headers and body") {
  Pair pair;
  H2Server::Request seen;
  pair.server.on_request = [&seen](H2Server& server, std::int32_t id, const H2Server::Request& request) {
    seen = request;
    server.interim(id, 103);
    server.answer(id, 201, "made", {{"content-type", "application/json"}});
  };
  HttpRequest request;
  request.method = "POST";
  request.target = "/api/v1/pods";
  request.headers = {{"accept", "application/json"}};
  request.body = std::string(300'000, 'b');
  const auto id = pair.client.submit(request, {"https", "rome:6443", "/prefix"}, {{"authorization", "Bearer t"}});
  REQUIRE(id.has_value());
  pair.settle();
  CHECK(seen.headers[":path"] == "/prefix/api/v1/pods");
  CHECK(seen.headers[":authority"] == "rome:6443");
  CHECK(seen.headers["authorization"] == "Bearer t");
  CHECK(seen.headers["content-length"] == "300000");
  CHECK(seen.body.size() == 300'000);
  CHECK(summary(pair.events) == " head1=201,content-type:application/json data1=made end1");
  CHECK(pair.client.streams() == 0);
}

TEST_CASE("answers decode alike whole, byte by byte, and split at each position") {
  // Both directions are recorded once; the client's side of the replay must send the same requests.
  const auto record = [] {
    Pair pair;
    pair.server.on_request = [](H2Server& server, std::int32_t id, const H2Server::Request& request) {
      if (request.headers.at(":path") == "/reset") {
        server.reset(id, NGHTTP2_REFUSED_STREAM);
      } else {
        server.answer(id, 200, "body of " + request.headers.at(":path"), {{"a", "b"}});
      }
    };
    for (const char* target : {"/one", "/reset", "/two"}) pair.send(get(target));
    std::string up, down;
    REQUIRE(pair.client.take_output(up).has_value());
    pair.server.feed(up);
    pair.server.goaway(5);
    down = pair.server.output();
    return down;
  };
  const std::string bytes = record();
  const auto replay = [&bytes](const std::vector<std::size_t>& cuts) {
    Http2Session client;
    for (const char* target : {"/one", "/reset", "/two"})
      REQUIRE(client.submit(get(target), {"https", "h"}).has_value());
    std::string ignored;
    REQUIRE(client.take_output(ignored).has_value());
    std::vector<http2::Event> events;
    std::size_t from = 0;
    for (const std::size_t cut : cuts) {
      REQUIRE(client.feed(std::string_view(bytes).substr(from, cut - from)).has_value());
      for (auto& event : client.take_events()) events.push_back(std::move(event));
      from = cut;
    }
    REQUIRE(client.feed(std::string_view(bytes).substr(from)).has_value());
    for (auto& event : client.take_events()) events.push_back(std::move(event));
    return summary(events);
  };
  const std::string whole = replay({});
  CHECK(whole.find("data5=body of /two end5") != std::string::npos);
  CHECK(whole.find("reset3!") != std::string::npos);
  CHECK(whole.find("goaway5") != std::string::npos);
  std::vector<std::size_t> each;
  for (std::size_t at = 1; at < bytes.size(); ++at) {
    CAPTURE(at);
    CHECK(replay({at}) == whole);
    each.push_back(at);
  }
  CHECK(replay(each) == whole);
}

TEST_CASE("a stalled reader stops its own stream and no other") {
  Pair pair({.connection_window = 1U << 20, .stream_window = 64U << 10});
  pair.server.on_request = [](H2Server& server, std::int32_t id, const H2Server::Request&) {
    server.answer(id, 200, std::string(3U << 20, 'x'));
  };
  const auto stalled = pair.send(get("/stalled"));
  pair.settle();
  const auto other = pair.send(get("/other"));
  std::size_t received_stalled = 0, received_other = 0;
  std::size_t counted = 0;
  const auto count = [&] {
    for (; counted < pair.events.size(); ++counted) {
      const auto* data = std::get_if<http2::Data>(&pair.events[counted]);
      if (data == nullptr) continue;
      if (data->stream == stalled) received_stalled += data->bytes.size();
      if (data->stream == other) {
        received_other += data->bytes.size();
        pair.client.consume(other, data->bytes.size());
      }
    }
  };
  do count();
  while (pair.step());
  CHECK(received_stalled == 64U << 10);
  CHECK(received_other == 3U << 20);
  // Once the reader goes on, so does the stream.
  pair.client.consume(stalled, received_stalled);
  pair.settle();
  count();
  CHECK(received_stalled == 128U << 10);
}

TEST_CASE("streams beyond the peer's limit wait inside, and a cancelled one is never sent") {
  Pair pair({}, 2);
  std::vector<std::int32_t> open;
  pair.server.on_request = [&open](H2Server&, std::int32_t id, const H2Server::Request&) { open.push_back(id); };
  pair.settle();
  for (int i = 0; i < 5; ++i) pair.send(get("/" + std::to_string(i)));
  pair.settle();
  CHECK(pair.client.max_concurrent_streams() == 2);
  CHECK(open == std::vector<std::int32_t>{1, 3});
  CHECK(pair.client.streams() == 5);
  pair.client.cancel(5);
  CHECK(pair.client.streams() == 4);
  pair.server.answer(1, 200);
  pair.settle();
  CHECK(open.size() == 3);
  CHECK(open.back() == 7);
}

TEST_CASE("cancelling resets the stream and silences it") {
  Pair pair;
  pair.server.on_request = [](H2Server& server, std::int32_t id, const H2Server::Request&) {
    server.head(id, 200);
    server.push(id, "first", false);
  };
  const auto id = pair.send(get("/watch"));
  pair.settle();
  CHECK(summary(pair.events) == " head1=200 data1=first");
  pair.client.cancel(id);
  pair.server.push(id, "second", false);
  pair.settle();
  CHECK(pair.server.resets == std::vector<std::int32_t>{1});
  CHECK(summary(pair.events) == " head1=200 data1=first");
}

TEST_CASE("after GOAWAY old streams go on, later ones are unprocessed, new ones are refused") {
  Pair pair;
  pair.server.on_request = [](H2Server& server, std::int32_t id, const H2Server::Request&) {
    if (id == 3) server.goaway(1);
  };
  pair.send(get("/a"));
  pair.send(get("/b"));
  pair.settle();
  CHECK(pair.client.is_closing());
  CHECK(summary(pair.events).find("reset3!") != std::string::npos);
  CHECK_FALSE(pair.client.submit(get("/c"), {"https", "h"}).has_value());
  pair.server.answer(1, 200, "late");
  pair.settle();
  CHECK(summary(pair.events).ends_with(" head1=200 data1=late end1"));
}

TEST_CASE("requests that still waited when GOAWAY came are unprocessed") {
  Pair pair({}, 1);
  pair.settle();
  pair.send(get("/a"));
  pair.send(get("/b"));
  pair.settle();
  pair.server.goaway(1);
  pair.settle();
  pair.server.answer(1, 200);
  pair.settle();
  CHECK(summary(pair.events).find("reset3!") != std::string::npos);
  CHECK(pair.client.streams() == 0);
}

TEST_CASE("pings are answered both ways") {
  Pair pair;
  pair.settle();
  pair.client.ping(42);
  pair.settle();
  CHECK(summary(pair.events) == " pong42");
  CHECK(pair.server.pings == 1);
}

TEST_CASE("headers beyond the limit reset their stream and leave the others alone") {
  Pair pair({.max_header_list = 4096});
  pair.server.on_request = [](H2Server& server, std::int32_t id, const H2Server::Request& request) {
    if (request.headers.at(":path") == "/big") {
      server.answer(id, 200, "", {{"x", std::string(8000, 'h')}});
    } else {
      server.answer(id, 200, "fine");
    }
  };
  pair.send(get("/big"));
  pair.send(get("/small"));
  pair.settle();
  const auto resets = pair.all<http2::Reset>();
  REQUIRE(resets.size() == 1);
  CHECK(resets[0].failure.code() == Errc::too_large);
  CHECK(summary(pair.events).find("data3=fine end3") != std::string::npos);
}

TEST_CASE("ten megabytes of headers end the connection, in bounded memory") {
  Http2Session client;
  REQUIRE(client.submit(get("/"), {"https", "h"}).has_value());
  std::string up;
  REQUIRE(client.take_output(up).has_value());
  // SETTINGS, then HEADERS without END_HEADERS, then CONTINUATION frames that never end.
  REQUIRE(client.feed(std::string("\0\0\0\4\0\0\0\0\0", 9)).has_value());
  std::string block;
  block += '\x88';
  while (block.size() < 16000) block += std::string("\x00\x01x\x7f\x21", 5) + std::string(160, 'v');
  const auto frame = [&block](char type, char flags) {
    std::string out;
    out += '\0';
    out += static_cast<char>(block.size() >> 8);
    out += static_cast<char>(block.size() & 0xff);
    out += type;
    out += flags;
    return out + std::string("\0\0\0\1", 4) + block;
  };
  auto fed = client.feed(frame(1, 0));
  std::size_t sent = block.size();
  while (fed && sent < 10U << 20) {
    fed = client.feed(frame(9, 0));
    sent += block.size();
  }
  CHECK_FALSE(fed.has_value());
  CHECK(sent < 1U << 20);
}

TEST_CASE("what is not HTTP/2 is a protocol failure and never more") {
  struct Case {
    std::string title;
    std::string bytes;
  };
  const Case cases[] = {
      {"HTTP/1.1", "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"},
      {"garbage", std::string(1000, '\xff')},
      {"zeroes", std::string(100, '\0')},
      {"SSH", "SSH-2.0-OpenSSH_9.2\r\n"},
      {"an answer for a stream that was never opened",
       std::string("\0\0\0\4\0\0\0\0\0", 9) + std::string("\0\0\1\1\4\0\0\0\7\x88", 10)},
      {"a push", std::string("\0\0\0\4\0\0\0\0\0", 9) + std::string("\0\0\5\5\4\0\0\0\1\0\0\0\2\x88", 14)},
  };
  for (const Case& test : cases) {
    CAPTURE(test.title);
    Http2Session client;
    REQUIRE(client.submit(get("/"), {"https", "h"}).has_value());
    std::string up;
    REQUIRE(client.take_output(up).has_value());
    const auto fed = client.feed(test.bytes);
    REQUIRE_FALSE(fed.has_value());
    CHECK(fed.error().code() == Errc::protocol);
    CHECK(fed.error().text().starts_with("HTTP/2: "));
  }
}

TEST_CASE("a status that is none resets its stream") {
  Http2Session client;
  REQUIRE(client.submit(get("/"), {"https", "h"}).has_value());
  std::string up;
  REQUIRE(client.take_output(up).has_value());
  // SETTINGS; HEADERS with ":status: 051"; HEADERS with "x: y" and END_STREAM, which would be trailers.
  const std::string bytes(
      "\0\0\0\4\0\0\0\0\0\0\0\5\1\4\0\0\0\1\x08\x03"
      "051\0\0\5\1\5\0\0\0\1\x40\1x\1y",
      37);
  REQUIRE(client.feed(bytes).has_value());
  REQUIRE(client.take_output(up).has_value());
  bool reset = false;
  for (const auto& event : client.take_events()) {
    CHECK_FALSE(std::holds_alternative<http2::End>(event));
    reset = reset || std::holds_alternative<http2::Reset>(event);
  }
  CHECK(reset);
}

TEST_CASE("half a frame is not a failure, it is not yet an event") {
  Http2Session client;
  CHECK(client.feed(std::string("\0\0\0\4", 4)).has_value());
  CHECK(client.take_events().empty());
}

TEST_CASE("headers that HTTP cannot carry are refused before they are sent") {
  Http2Session client;
  HttpRequest request = get("/");
  request.headers = {{"x", "a\r\nb: c"}};
  CHECK(client.submit(request, {"https", "h"}).error().code() == Errc::invalid_input);
  request = get("/a b");
  CHECK(client.submit(request, {"https", "h"}).error().code() == Errc::invalid_input);
  request = get("/");
  request.headers = {{"X y", "a"}};
  CHECK(client.submit(request, {"https", "h"}).error().code() == Errc::invalid_input);
  CHECK(client.streams() == 0);
}

TEST_CASE("terminate says goodbye") {
  Pair pair;
  pair.settle();
  pair.client.terminate();
  CHECK(pair.client.has_output());
  pair.settle();
  CHECK(pair.server.goaway_seen);
  CHECK(pair.client.is_closing());
  CHECK(pair.client.is_over());
}
