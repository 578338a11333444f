#include "deep_text.hpp"

#include <string>

#include "string_scanner.hpp"

namespace kube::wire {
namespace {

/// Copies a text, with null in place of each object and array below `levels` levels. What is kept is copied unchanged,
/// so that a fault there stays one.
std::string cut_deep(std::string_view text, std::size_t levels) {
  std::string out;
  std::size_t depth = 0, kept_from = 0;
  StringScanner strings;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (strings.takes(c)) continue;
    if (c == '{' || c == '[') {
      if (++depth == levels + 1) out.append(text.substr(kept_from, i - kept_from)).append("null");
    } else if ((c == '}' || c == ']') && depth > 0) {
      if (depth-- == levels + 1) kept_from = i + 1;
    }
  }
  if (depth <= levels) out.append(text.substr(kept_from));
  return out;
}

}  // namespace

Result<DeepText> read_deep_text(std::string_view text, std::size_t levels,
                                const std::shared_ptr<MemoryAccount>& account) {
  auto tree = parse_json_arena(text, levels, account);
  if (tree) return DeepText{std::move(*tree), false};
  if (tree.error().code() != Errc::parse) return std::unexpected(std::move(tree.error()));
  const std::string readable = cut_deep(text, levels);
  if (readable == text) return std::unexpected(std::move(tree.error()));
  tree = parse_json_arena(readable, levels, account);
  if (!tree) return std::unexpected(std::move(tree.error()));
  return DeepText{std::move(*tree), true};
}

}  // namespace kube::wire
