#include "kube/wire/remote_command.hpp"

#include <doctest/doctest.h>

#include <array>

#include "kube/base/json.hpp"
#include "wire/feeding.hpp"

namespace {

using namespace kube;
using namespace kube::wire;
using Kind = CommandResult::Kind;

}  // namespace

TEST_CASE("the first protocol of the client that the server has is chosen") {
  using Outcome = Negotiation::Outcome;
  struct Case {
    const char* title;
    std::vector<std::string> offered;
    Outcome outcome;
    std::string protocol;
  };
  const Case cases[] = {
      {"no header", {}, Outcome::nothing_offered, ""},
      {"nothing in it", {",, "}, Outcome::nothing_offered, ""},
      {"an unknown one", {"c"}, Outcome::nothing_common, ""},
      {"two unknown ones", {"c, d"}, Outcome::nothing_common, ""},
      {"a known one", {"b"}, Outcome::chosen, "b"},
      {"a known one first", {"b, c"}, Outcome::chosen, "b"},
      {"a known one last", {"c ,\tb "}, Outcome::chosen, "b"},
      {"a known one in another line", {"c", "b,a"}, Outcome::chosen, "b"},
  };
  constexpr std::array<std::string_view, 2> supported = {"a", "b"};
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const Negotiation negotiation = negotiate(c.offered, supported);
    CHECK(negotiation.outcome == c.outcome);
    CHECK(negotiation.protocol == c.protocol);
  }
}

TEST_CASE("names of protocols and channels go both ways") {
  for (const auto version :
       {CommandVersion::v1, CommandVersion::v2, CommandVersion::v3, CommandVersion::v4, CommandVersion::v5}) {
    CHECK(command_version(to_string(version)) == version);
  }
  CHECK(to_string(CommandVersion::v1) == "channel.k8s.io");
  CHECK_FALSE(command_version("v6.channel.k8s.io"));
  for (const auto channel :
       {CommandChannel::in, CommandChannel::out, CommandChannel::err, CommandChannel::error, CommandChannel::resize}) {
    CHECK(command_channel(to_string(channel)) == channel);
  }
  CHECK_FALSE(command_channel("data"));
}

TEST_CASE("sizes of a terminal are read however they are cut") {
  const std::string stream = encode_resize({80, 24}) + encode_resize({65535, 0}) +
                             "{\"Width\":1}{\"Width\":-1,\"Height\":2}" + " {\"Height\":3,\"Width\":2,\"More\":true}";
  kube::test::in_every_cut(stream, [](const auto& pieces) {
    ResizeDecoder decoder;
    std::vector<TerminalSize> sizes;
    for (const auto piece : pieces) {
      const auto some = decoder.feed(piece);
      REQUIRE(some);
      sizes.insert(sizes.end(), some->begin(), some->end());
    }
    CHECK(sizes == std::vector<TerminalSize>{{80, 24}, {65535, 0}, {2, 3}});
  });
}

TEST_CASE("what is no terminal size is an error, not a loop") {
  CHECK(ResizeDecoder().feed("[80,24]").error().code() == Errc::parse);
  CHECK(ResizeDecoder().feed("{80,24}").error().code() == Errc::parse);
  CHECK(ResizeDecoder().feed("{\"Width\":" + std::string(300, '1')).error().code() == Errc::too_large);
}

TEST_CASE("the result of a command is read in each version") {
  struct Case {
    const char* title;
    CommandVersion version;
    std::string bytes;
    Kind kind;
    int exit_code;
    std::string message;
  };
  const Case cases[] = {
      {"nothing", CommandVersion::v4, "", Kind::success, 0, ""},
      {"nothing in v1", CommandVersion::v1, "", Kind::success, 0, ""},
      {"text in v3", CommandVersion::v3, "boom", Kind::failed, 0, "boom"},
      {"success", CommandVersion::v4, R"({"metadata":{},"status":"Success"})", Kind::success, 0, ""},
      {"exit code", CommandVersion::v5,
       R"({"metadata":{},"status":"Failure","message":"exit 3","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}})",
       Kind::exited, 3, "exit 3"},
      {"failure", CommandVersion::v4,
       R"({"status":"Failure","message":"no such container","reason":"InternalError","code":500})", Kind::failed, 0,
       "no such container"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const auto result = decode_result(c.version, c.bytes);
    REQUIRE(result);
    CHECK(result->kind == c.kind);
    CHECK(result->exit_code == c.exit_code);
    CHECK(result->message == c.message);
  }
}

TEST_CASE("a result that cannot be is a protocol error") {
  for (
      const std::string_view bytes :
      {"boom", "[]", "{}", R"({"status":"Perhaps"})", R"({"status":"Failure","reason":"NonZeroExitCode"})",
       R"({"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"256"}]}})",
       R"({"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"-1"}]}})",
       R"({"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":""}]}})",
       R"({"status":"Failure","reason":"NonZeroExitCode","details":{"causes":{"reason":"ExitCode"}}})"}) {
    CAPTURE(bytes);
    const auto result = decode_result(CommandVersion::v4, bytes);
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().code() == Errc::protocol);
  }
}

TEST_CASE("a result that is written is read again") {
  for (const CommandResult& result :
       {CommandResult{}, CommandResult{Kind::exited, 7, "exit 7"}, CommandResult{Kind::failed, 0, "it \"failed\"\n"}}) {
    const auto again = decode_result(CommandVersion::v4, encode_result(result));
    REQUIRE(again);
    CHECK(again->kind == result.kind);
    CHECK(again->exit_code == result.exit_code);
    CHECK(again->message == result.message);
  }
}

TEST_CASE("the answer of an API server stays in the Status of a failure") {
  const std::string text =
      encode_failure(Failure::from_status({.code = 404, .reason = "NotFound", .message = "pods \"a\" not found"})
                         .in("asking the provider"));
  const auto document = parse_json(text);
  REQUIRE(document);
  CHECK(int_at(*document, {"code"}) == 404);
  CHECK(string_at(*document, {"reason"}) == "NotFound");
  CHECK(string_at(*document, {"message"}) == "asking the provider: pods \"a\" not found");
}

TEST_CASE("a Status becomes text for peers that know no Status") {
  const std::string status = encode_result({Kind::exited, 3, "command terminated with exit code 3"});
  CHECK(translate_result(status, CommandVersion::v4) == status);
  CHECK(translate_result(status, CommandVersion::v2) == "command terminated with exit code 3");
  CHECK(translate_result(encode_result({}), CommandVersion::v1) == "");
}
