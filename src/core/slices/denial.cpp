#include "core/slices/denial.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "core/common/resources.hpp"
#include "core/slices/grant.hpp"
#include "core/slices/request.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/resource_slice.hpp"

namespace liqo::core {
namespace {

namespace reasons = slice_reasons;

/// The reasons that speak of a request. A drain has another one, here and in the Go version.
constexpr std::string_view of_requests[] = {reasons::invalid_request, reasons::request_denied,
                                            reasons::default_class_disabled, reasons::share_class_disabled};
/// The reasons of a drain or a cordon on a slice whose class is not Liqo's, whose controller may use any other one.
constexpr std::string_view of_withdrawals[] = {reasons::tenant_drained, reasons::tenant_cordoned,
                                               reasons::resources_denied};

constexpr std::size_t max_words = 512;

bool is_among(std::span<const std::string_view> list, std::string_view reason) {
  return std::ranges::find(list, reason) != list.end();
}

bool speaks_of_request(std::string_view slice_class, std::string_view reason) {
  return is_built_in_class(slice_class) ? is_among(of_requests, reason) : !is_among(of_withdrawals, reason);
}

std::string granted_words(const kube::json::object& granted) {
  const auto amounts = read_resources(granted);
  if (!amounts) return "what it granted before";
  std::vector<std::string> words;
  for (const auto& [name, amount] : *amounts) words.push_back(kube::printable(name) + " " + amount.text());
  return std::string(kube::cut_text(kube::join(words, ", "), max_words));
}

}  // namespace

bool keeps_grant(const kube::Object& slice) {
  const api::ResourceSlice view(slice);
  const auto said = view.condition(api::slice_conditions::resources);
  return said && said->status == api::slice_conditions::denied && !view.granted().empty() &&
         speaks_of_request(view.slice_class(), said->reason);
}

std::optional<std::string> denied_request_text(const kube::Object& slice) {
  if (!keeps_grant(slice)) return std::nullopt;
  const api::ResourceSlice view(slice);
  const auto said = view.condition(api::slice_conditions::resources);
  const std::string_view words = said->message.empty() ? said->reason : said->message;
  return "cluster " + kube::printable(kube::cut_text(view.provider(), max_words)) +
         " denies what the slice asks for now, " + kube::in_quotes(words, max_words) +
         "; granted as before: " + granted_words(view.granted()) +
         ". Set the spec back to what it was, or ask its operator what it allows";
}

}  // namespace liqo::core
