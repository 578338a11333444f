#include "kube/k8s/status.hpp"

#include <algorithm>
#include <charconv>

#include "kube/base/json_arena.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"

namespace kube {
namespace {

constexpr std::size_t max_message = 2048, max_causes = 16;

/// The pause that a server asks for, within 0 and max_retry_after.
std::chrono::seconds pause_of(std::int64_t seconds) {
  return std::clamp(std::chrono::seconds(seconds), std::chrono::seconds(0), max_retry_after);
}

std::string printable(std::string_view text, std::size_t max) {
  return kube::printable(cut_text(text, max)) + (text.size() > max ? "…" : "");
}

}  // namespace

Status read_status(const json::value& document) {
  Status status;
  status.code = int(int_at(document, {"code"}));
  status.reason = printable(string_at(document, {"reason"}), 128);
  status.message = printable(string_at(document, {"message"}), max_message);
  for (const json::value& cause : array_at(document, {"details", "causes"})) {
    if (status.causes.size() == max_causes) break;
    status.causes.push_back({.reason = printable(string_at(cause, {"reason"}), 128),
                             .message = printable(string_at(cause, {"message"}), max_message),
                             .field = printable(string_at(cause, {"field"}), 256)});
  }
  if (const auto seconds = int_at(document, {"details", "retryAfterSeconds"}); seconds > 0)
    status.retry_after = pause_of(seconds);
  return status;
}

Status read_status(int http_code, std::string_view body, std::string_view retry_after,
                   const std::shared_ptr<MemoryAccount>& account) {
  Status status;
  if (auto document = parse_json_arena(body, max_object_depth, account);
      document && string_at(*document, {"kind"}) == "Status") {
    status = read_status(*document);
  } else {
    status.message = trim(printable(body, 512), " ");
  }
  status.code = http_code;
  std::int64_t seconds = 0;
  const char* const behind = retry_after.data() + retry_after.size();
  const auto [end, failure] = std::from_chars(retry_after.data(), behind, seconds);
  const bool is_huge = failure == std::errc::result_out_of_range && !retry_after.starts_with('-');
  if (is_huge) seconds = max_retry_after.count();
  if ((failure == std::errc() || is_huge) && end == behind && seconds >= 0) status.retry_after = pause_of(seconds);
  return status;
}

}  // namespace kube
