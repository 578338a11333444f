#include "core/peering/pem.hpp"

#include "kube/base/base64.hpp"

namespace liqo::core {
namespace {

constexpr std::string_view begin_mark = "-----BEGIN ";
constexpr std::string_view end_mark = "-----END ";
constexpr std::string_view dashes = "-----";
constexpr std::size_t line_length = 64;

}  // namespace

std::optional<PemBlock> read_pem(std::string_view text) {
  std::size_t begin = text.find(begin_mark);
  while (begin != std::string_view::npos && begin > 0 && text[begin - 1] != '\n')
    begin = text.find(begin_mark, begin + 1);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t type_at = begin + begin_mark.size();
  const std::size_t type_end = text.find(dashes, type_at);
  if (type_end == std::string_view::npos) return std::nullopt;
  const std::string type(text.substr(type_at, type_end - type_at));
  if (type.empty() || type.contains('\n')) return std::nullopt;
  const std::size_t body = type_end + dashes.size();
  const std::size_t end = text.find("\n" + std::string(end_mark) + type + std::string(dashes), body);
  if (end == std::string_view::npos) return std::nullopt;
  auto der = kube::decode_base64(text.substr(body, end - body));
  if (!der) return std::nullopt;
  std::string_view rest = text.substr(end + 1 + end_mark.size() + type.size() + dashes.size());
  if (rest.starts_with('\r')) rest.remove_prefix(1);
  if (rest.starts_with('\n')) rest.remove_prefix(1);
  return PemBlock{.type = type, .der = std::move(*der), .rest = rest};
}

std::string write_pem(std::string_view type, std::string_view der) {
  const std::string text = kube::encode_base64(der);
  std::string pem = std::string(begin_mark) + std::string(type) + "-----\n";
  for (std::size_t at = 0; at < text.size(); at += line_length) pem += text.substr(at, line_length) + "\n";
  return pem + std::string(end_mark) + std::string(type) + "-----\n";
}

}  // namespace liqo::core
