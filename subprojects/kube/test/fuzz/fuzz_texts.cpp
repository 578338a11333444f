// Short texts of others: JSON, times, base64, addresses, and how a command ended. What is understood can be written,
// and reads as the same again.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kube/base/base64.hpp"
#include "kube/base/duration.hpp"
#include "kube/base/json.hpp"
#include "kube/base/json_arena.hpp"
#include "kube/base/time.hpp"
#include "kube/wire/remote_command.hpp"
#include "kube/wire/server_url.hpp"

namespace {

using namespace kube;

void check(bool holds) {
  if (!holds) std::abort();
}

void read_json(std::string_view text) {
  const auto account = std::make_shared<MemoryAccount>("all", 1 << 16, nullptr);
  {
    const auto value = parse_json(text);
    const auto arena = parse_json_arena(text, max_object_depth, account);
    // The account may have too little left.
    check(value ? arena || arena.error().code() == Errc::too_large : !arena);
    check(!value || !arena || *value == *arena);
    if (value) {
      // Every number survives to the last bit.
      const auto again = parse_json(json::serialize(*value));
      check(again && *again == *value);
    }
  }
  check(account->held() == 0);
}

void read_command(std::string_view text) {
  using enum wire::CommandVersion;
  for (const wire::CommandVersion version : {v1, v2, v3, v4, v5}) {
    static_cast<void>(wire::decode_result(version, text));
    static_cast<void>(wire::translate_result(text, version));
  }
  if (const auto result = wire::decode_result(v5, text)) {
    const auto again = wire::decode_result(v5, wire::encode_result(*result));
    check(again && again->kind == result->kind && again->exit_code == result->exit_code);
  }
  wire::ResizeDecoder sizes;
  if (const auto read = sizes.feed(text.substr(0, text.size() / 2)))
    static_cast<void>(sizes.feed(text.substr(text.size() / 2)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 65536) return -1;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_json(text);
  read_command(text);
  if (const auto time = parse_time(text)) {
    const auto again = parse_time(format_micro_time(*time));
    check(again && *again == *time);
  }
  if (const auto date = parse_http_date(text)) static_cast<void>(format_time(*date));
  static_cast<void>(parse_duration(text));
  const auto encoded = decode_base64(encode_base64(text));
  check(encoded && *encoded == text);
  static_cast<void>(decode_base64(text));
  if (const auto url = wire::parse_server_url(text)) {
    const auto again = wire::parse_server_url(url->text());
    check(again && *again == *url);
  }
  return 0;
}
