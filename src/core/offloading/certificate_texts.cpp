#include "core/offloading/certificate_texts.hpp"

#include <utility>

#include "kube/base/base64.hpp"

namespace liqo::core {
namespace {

/// Columns of PEM, as Go writes it.
constexpr std::size_t columns = 64;

}  // namespace

std::vector<std::string> read_certificates(std::string_view text) {
  constexpr std::string_view begin = "-----BEGIN ", end = "-----END ", dashes = "-----";
  std::vector<std::string> found;
  for (std::size_t at = text.find(begin); at != std::string_view::npos; at = text.find(begin)) {
    text.remove_prefix(at + begin.size());
    const std::size_t after = text.find(dashes);
    if (after == std::string_view::npos) break;
    const std::string closing = std::string(end) + std::string(text.substr(0, after)) + std::string(dashes);
    const std::string_view rest = text.substr(after + dashes.size());
    const std::size_t closes = rest.find(closing);
    if (closes == std::string_view::npos) continue;
    if (auto block = kube::decode_base64(rest.substr(0, closes)); block && !block->empty())
      found.push_back(std::move(*block));
    text = rest.substr(closes + closing.size());
  }
  return found;
}

std::string write_certificates(const std::vector<std::string>& certificates) {
  std::string text;
  for (const std::string& certificate : certificates) {
    const std::string encoded = kube::encode_base64(certificate);
    text += "-----BEGIN CERTIFICATE-----\n";
    for (std::size_t at = 0; at < encoded.size(); at += columns) text += encoded.substr(at, columns) + "\n";
    text += "-----END CERTIFICATE-----\n";
  }
  return text;
}

}  // namespace liqo::core
