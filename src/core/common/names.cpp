#include "core/common/names.hpp"

#include <algorithm>

#include "core/common/digest.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/names.hpp"

namespace liqo::core {
namespace {

constexpr std::size_t max_name = 253;
constexpr std::string_view token_suffix = "-token";

bool is_lower_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_alnum(char c) { return is_lower_alnum(c) || (c >= 'A' && c <= 'Z'); }

}  // namespace

bool is_dns_label(std::string_view text) {
  if (text.empty() || text.size() > 63 || !is_lower_alnum(text.front()) || !is_lower_alnum(text.back())) return false;
  for (char c : text)
    if (!is_lower_alnum(c) && c != '-') return false;
  return true;
}

bool is_dns_subdomain(std::string_view text) {
  if (text.empty() || text.size() > max_name) return false;
  bool edge = true;  // at the start of a part
  char last = '.';
  for (char c : text) {
    if (c == '.' || c == '-') {
      if (c == '.' ? !is_lower_alnum(last) : edge) return false;
    } else if (!is_lower_alnum(c)) {
      return false;
    }
    edge = c == '.';
    last = c;
  }
  return is_lower_alnum(last);
}

bool is_path_name(std::string_view text) {
  const auto is_usual = [](char c) { return is_lower_alnum(c) || c == '-' || c == '.'; };
  return !text.empty() && text.size() <= max_name && text.front() != '.' && std::ranges::all_of(text, is_usual);
}

bool is_label_value(std::string_view text) {
  if (text.empty()) return true;
  if (text.size() > 63 || !is_alnum(text.front()) || !is_alnum(text.back())) return false;
  for (char c : text)
    if (!is_alnum(c) && c != '-' && c != '_' && c != '.') return false;
  return true;
}

bool is_label_key(std::string_view text) {
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    if (!is_dns_subdomain(text.substr(0, slash))) return false;
    text.remove_prefix(slash + 1);
  }
  return !text.empty() && is_label_value(text);
}

std::string_view domain_of(std::string_view key) { return key.substr(0, std::min(key.find('/'), key.size())); }

bool is_below(std::string_view domain, std::string_view known) {
  if (!domain.ends_with(known)) return false;
  return domain.size() == known.size() || domain[domain.size() - known.size() - 1] == '.';
}

std::vector<std::string> service_names(std::string_view service, std::string_view ns) {
  std::vector<std::string> names{std::string(service)};
  for (const std::string_view part : {ns, std::string_view("svc"), std::string_view("cluster.local")})
    names.push_back(names.back() + "." + std::string(part));
  return names;
}

kube::Result<void> check_node_name(std::string_view name) {
  if (!is_dns_subdomain(name) || !is_label_value(name))
    return kube::fail(kube::Errc::invalid_input,
                      "the name of a virtual node is the value of a label on all its pods, so it may have at most 63 "
                      "characters of a-z, 0-9, '-' and '.': " +
                          kube::in_quotes(name, 80) + " cannot be used");
  return {};
}

std::string remote_root_ca_name(std::string_view local_cluster) {
  std::string name = std::string(api::root_ca_name) + "." + std::string(local_cluster.substr(0, 5));
  if (!is_alnum(name.back())) name += 'a';
  return name;
}

std::string token_secret_name(std::string_view pod) {
  if (pod.size() + token_suffix.size() <= max_name) return std::string(pod) + std::string(token_suffix);
  const std::string digest = "-" + sha256_hex(pod).substr(0, 16);
  std::string_view kept = pod.substr(0, max_name - digest.size() - token_suffix.size());
  while (!kept.empty() && !is_lower_alnum(kept.back())) kept.remove_suffix(1);
  return std::string(kept) + digest + std::string(token_suffix);
}

std::string_view token_secret_pod(std::string_view secret, std::string_view annotated) {
  if (token_secret_name(annotated) == secret) return annotated;
  return secret.ends_with(token_suffix) ? secret.substr(0, secret.size() - token_suffix.size()) : std::string_view();
}

std::string token_key(std::string_view volume, std::string_view path) {
  return std::string(volume) + "-" + sha256_hex(path).substr(0, 6);
}

}  // namespace liqo::core
