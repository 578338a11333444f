#include "core/offloading/token_audiences.hpp"

#include <algorithm>
#include <vector>

#include "core/offloading/service_account_token.hpp"
#include "core/offloading/shadow_pod.hpp"
#include "kube/base/base64.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

constexpr std::size_t max_named = 8, max_shown = 60;

/// Whether the pod wants no token of home.
bool is_vetoed(const kube::Object& local_pod) {
  const std::string_view asked = local_pod.annotation(api::annotations::api_server_support);
  return asked == "disabled" || asked == "remote";
}

void add_audiences(const json::value* said, Audiences& audiences) {
  if (!said) return;
  if (said->is_string() && !said->get_string().empty()) audiences.emplace(said->get_string());
  if (const json::array* list = said->if_array())
    for (const json::value& one : *list)
      if (one.is_string() && !one.get_string().empty()) audiences.emplace(one.get_string());
}

/// The claims of a JWT; null if the text is none.
json::value claims_of(std::string_view token) {
  const std::size_t first = token.find('.');
  if (first == std::string_view::npos) return nullptr;
  const std::size_t second = token.find('.', first + 1);
  if (second == std::string_view::npos) return nullptr;
  std::string text(token.substr(first + 1, second - first - 1));
  for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  text.append((4 - text.size() % 4) % 4, '=');
  const auto decoded = kube::decode_base64(text);
  if (!decoded) return nullptr;
  auto claims = kube::parse_json(*decoded);
  return claims ? std::move(*claims) : json::value();
}

}  // namespace

bool is_other_audience(std::string_view audience, const ForgingContext& ctx) {
  return ctx.audience_tokens == AudienceTokens::always && !audience.empty() &&
         !(ctx.home_audiences && ctx.home_audiences->contains(audience));
}

bool is_asked_by_name(std::string_view audience, const ForgingContext& ctx) {
  return ctx.home_audiences && !ctx.home_audiences->empty() && is_other_audience(audience, ctx);
}

bool gets_token(const kube::Object& local_pod, std::string_view audience, const ForgingContext& ctx) {
  if (is_vetoed(local_pod)) return false;
  return is_asked_by_name(audience, ctx) || api_server_support_of(local_pod, ctx) == ApiServerSupport::token_api;
}

bool mounts_home_token(const kube::Object& local_pod, const std::set<std::string, std::less<>>& mounted,
                       const ForgingContext& ctx) {
  return std::ranges::any_of(collect_token_requests(local_pod), [&](const TokenRequest& request) {
    return mounted.contains(request.key) && !is_other_audience(request.audience, ctx);
  });
}

bool depends_on_audiences(const kube::Object& local_pod, const ForgingContext& ctx) {
  if (ctx.audience_tokens != AudienceTokens::always || is_vetoed(local_pod)) return false;
  if (api_server_support_of(local_pod, ctx) == ApiServerSupport::token_api) return false;
  for (const TokenRequest& request : collect_token_requests(local_pod))
    if (!request.audience.empty()) return true;
  return false;
}

std::string excess_of_tokens(const kube::Object& local_pod, const ForgingContext& ctx) {
  std::size_t tokens = 0, bytes = 0;
  for (const json::value& volume : kube::array_at(local_pod.spec(), {"volumes"}))
    for (const json::value& source : kube::array_at(volume, {"projected", "sources"})) {
      const json::value* token = kube::find(source, {"serviceAccountToken"});
      if (!token || !token->is_object()) continue;
      const std::string_view audience = kube::string_at(*token, {"audience"});
      if (!gets_token(local_pod, audience, ctx)) continue;
      ++tokens;
      bytes += audience.size();
    }
  if (tokens > max_tokens)
    return "it mounts " + std::to_string(tokens) + " tokens of service accounts, and at most " +
           std::to_string(max_tokens) + " of one pod are brought: mount fewer";
  if (bytes > max_audience_bytes)
    return "the audiences of its tokens have " + std::to_string(bytes) + " bytes together, and at most " +
           std::to_string(max_audience_bytes) + " fit: shorten them";
  return {};
}

std::string unsent_tokens(const kube::Object& local_pod, const ForgingContext& ctx) {
  if (is_vetoed(local_pod)) return {};
  std::vector<std::string> audiences;
  for (const TokenRequest& request : collect_token_requests(local_pod)) {
    if (request.audience.empty() || gets_token(local_pod, request.audience, ctx)) continue;
    if (ctx.home_audiences && ctx.home_audiences->contains(request.audience)) continue;
    audiences.push_back(kube::one_line(request.audience, max_shown));
  }
  if (audiences.empty()) return {};
  return "serviceAccountToken (audience " + kube::join_some(audiences, max_named) + ")";
}

Audiences read_audiences(const kube::Object& answer) {
  Audiences audiences;
  const json::value claims = claims_of(kube::string_at(answer.status(), {"token"}));
  add_audiences(kube::find(claims, {"aud"}), audiences);
  if (audiences.empty()) add_audiences(kube::find(answer.spec(), {"audiences"}), audiences);
  return audiences;
}

}  // namespace liqo::core
