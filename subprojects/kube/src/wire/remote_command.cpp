#include "kube/wire/remote_command.hpp"

#include <algorithm>
#include <array>

#include "kube/base/json.hpp"
#include "kube/base/scalar.hpp"
#include "kube/base/text.hpp"
#include "kube/k8s/status.hpp"

namespace kube::wire {
namespace {

constexpr std::array<std::string_view, command_channel_count> stream_types = {"stdin", "stdout", "stderr", "error",
                                                                              "resize"};
constexpr std::array<std::string_view, 5> version_names = {"channel.k8s.io", "v2.channel.k8s.io", "v3.channel.k8s.io",
                                                           "v4.channel.k8s.io", "v5.channel.k8s.io"};
constexpr std::size_t max_resize = 256;

// The exit code of a Status with reason NonZeroExitCode: a decimal of 8 bits in the cause "ExitCode".
std::optional<std::uint8_t> exit_code(const json::value& status) {
  for (const json::value& cause : array_at(status, {"details", "causes"})) {
    if (string_at(cause, {"reason"}) != "ExitCode") continue;
    if (const auto code = read_number<std::uint8_t>(string_at(cause, {"message"}))) return code;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(CommandChannel channel) { return stream_types[static_cast<std::size_t>(channel)]; }

std::optional<CommandChannel> command_channel(std::string_view stream_type) {
  const auto found = std::find(stream_types.begin(), stream_types.end(), stream_type);
  if (found == stream_types.end()) return std::nullopt;
  return static_cast<CommandChannel>(found - stream_types.begin());
}

bool CommandStreams::has(CommandChannel channel) const {
  switch (channel) {
    case CommandChannel::in:
      return in;
    case CommandChannel::out:
      return out;
    case CommandChannel::err:
      return err;
    case CommandChannel::error:
      return true;
    case CommandChannel::resize:
      return tty;
  }
  return false;
}

std::string_view to_string(CommandVersion version) { return version_names[static_cast<std::size_t>(version) - 1]; }

std::optional<CommandVersion> command_version(std::string_view name) {
  const auto found = std::find(version_names.begin(), version_names.end(), name);
  if (found == version_names.end()) return std::nullopt;
  return static_cast<CommandVersion>(found - version_names.begin() + 1);
}

Negotiation negotiate(std::span<const std::string> offered, std::span<const std::string_view> supported) {
  bool any = false;
  for (const std::string& line : offered) {
    for (const std::string_view part : split(line, ',')) {
      const std::string_view name = trim(part);
      any = any || !name.empty();
      if (!name.empty() && std::find(supported.begin(), supported.end(), name) != supported.end())
        return {Negotiation::Outcome::chosen, std::string(name)};
    }
  }
  return {any ? Negotiation::Outcome::nothing_common : Negotiation::Outcome::nothing_offered, {}};
}

std::string encode_resize(TerminalSize size) {
  return "{\"Width\":" + std::to_string(size.width) + ",\"Height\":" + std::to_string(size.height) + "}\n";
}

Result<std::vector<TerminalSize>> ResizeDecoder::feed(std::string_view bytes) {
  std::vector<TerminalSize> sizes;
  for (const char c : bytes) {
    const bool space = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (pending_.empty() && space) continue;
    if (pending_.empty() && c != '{') return fail(Errc::parse, "a terminal size is not a JSON object");
    pending_.push_back(c);
    if (pending_.size() > max_resize) return fail(Errc::too_large, "a terminal size of more than 256 bytes");
    // Sizes have no nested objects and no strings with braces, so the first closing brace ends one.
    if (c != '}') continue;
    const auto document = parse_json(pending_, 4);
    pending_.clear();
    if (!document) return fail(document.error(), "reading a terminal size");
    const std::int64_t width = int_at(*document, {"Width"}, -1);
    const std::int64_t height = int_at(*document, {"Height"}, -1);
    if (width < 0 || width > 0xffff || height < 0 || height > 0xffff) continue;
    sizes.push_back({static_cast<std::uint16_t>(width), static_cast<std::uint16_t>(height)});
  }
  return sizes;
}

std::string encode_result(const CommandResult& result, int http_code, std::string_view reason) {
  json::object status;
  status["metadata"] = json::object();
  switch (result.kind) {
    case CommandResult::Kind::success:
      status["status"] = "Success";
      break;
    case CommandResult::Kind::exited: {
      status["status"] = "Failure";
      status["message"] = result.message;
      status["reason"] = "NonZeroExitCode";
      json::object cause;
      cause["reason"] = "ExitCode";
      cause["message"] = std::to_string(result.exit_code);
      status["details"] = json::object{{"causes", json::array{std::move(cause)}}};
      break;
    }
    case CommandResult::Kind::failed:
      status["status"] = "Failure";
      status["message"] = result.message;
      status["reason"] = json::string(reason);
      status["code"] = http_code;
      break;
  }
  return json::serialize(status);
}

std::string encode_failure(const Failure& failure) {
  const CommandResult result{.kind = CommandResult::Kind::failed, .message = failure.text()};
  const Status* status = failure.status();
  if (!status) return encode_result(result);
  return encode_result(result, status->code, status->reason.empty() ? "InternalError" : status->reason);
}

Result<CommandResult> decode_result(CommandVersion version, std::string_view bytes) {
  if (bytes.empty()) return CommandResult{};
  if (!has_status(version)) {
    return CommandResult{.kind = CommandResult::Kind::failed, .message = std::string(bytes)};
  }
  auto document = parse_json(bytes);
  if (!document) return fail(Errc::protocol, "the result of the command is not a Status: " + document.error().text());
  const std::string_view status = string_at(*document, {"status"});
  if (status == "Success") return CommandResult{};
  if (status != "Failure") return fail(Errc::protocol, "the result of the command has an unknown status");
  CommandResult result{.kind = CommandResult::Kind::failed, .message = std::string(string_at(*document, {"message"}))};
  if (string_at(*document, {"reason"}) == "NonZeroExitCode") {
    const auto code = exit_code(*document);
    if (!code) return fail(Errc::protocol, "the result of the command names no exit code");
    result.kind = CommandResult::Kind::exited;
    result.exit_code = *code;
  }
  return result;
}

std::string translate_result(std::string_view status, CommandVersion to) {
  if (has_status(to)) return std::string(status);
  const auto result = decode_result(CommandVersion::v4, status);
  return result ? result->message : result.error().text();
}

}  // namespace kube::wire
