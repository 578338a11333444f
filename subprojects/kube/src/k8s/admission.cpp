#include "kube/k8s/admission.hpp"

#include <algorithm>

#include "kube/base/base64.hpp"
#include "kube/base/json_arena.hpp"
#include "kube/base/printable.hpp"

namespace kube::admission {
namespace {

constexpr std::string_view review_version = "admission.k8s.io/v1";
// A certificate has a handful of groups; this is only there so that there is a bound.
constexpr std::size_t max_groups = 1'000;
// In the tree and, while it grows, on the parser's stack.
constexpr std::size_t bytes_per_value = 80;

std::unexpected<Failure> malformed(std::string text) {
  return fail(Errc::parse, "the AdmissionReview cannot be read: " + std::move(text));
}

bool read_operation(std::string_view text, Operation& operation) {
  for (const Operation each : {Operation::create, Operation::update, Operation::remove, Operation::connect}) {
    if (text != to_string(each)) continue;
    operation = each;
    return true;
  }
  return false;
}

/// Moves the object out of the review: an empty one if there is none, nothing if it is no object.
std::optional<Object> take_object(json::object& request, std::string_view field) {
  json::value* value = request.if_contains(field);
  if (!value || value->is_null()) return Object();
  if (!value->is_object()) return std::nullopt;
  // Built, not assigned: so it keeps its memory, and nothing is copied.
  return std::optional<Object>(std::in_place, std::move(value->get_object()));
}

std::string clipped(const std::string& text) {
  return text.size() <= max_text ? text : std::string(cut_text(text, max_text)) + "...";
}

}  // namespace

std::string_view to_string(Operation operation) {
  switch (operation) {
    case Operation::create:
      return "CREATE";
    case Operation::update:
      return "UPDATE";
    case Operation::remove:
      return "DELETE";
    case Operation::connect:
      return "CONNECT";
  }
  return "";
}

bool User::is_in(std::string_view group) const { return std::ranges::find(groups, group) != groups.end(); }

Result<std::size_t> review_size(std::string_view body) {
  const std::size_t values = count_values(body, max_values);
  if (values > max_values)
    return fail(Errc::too_large,
                "the AdmissionReview cannot be read: it has more than " + std::to_string(max_values) + " values");
  return body.size() + values * bytes_per_value;
}

Result<Request> decode_review(std::string_view body) {
  auto document = parse_json_arena(body, max_depth);
  if (!document) return malformed(document.error().text());
  const std::string_view version = string_at(*document, {"apiVersion"});
  if (string_at(*document, {"kind"}) != "AdmissionReview") return malformed("its kind is not AdmissionReview");
  if (version != review_version)
    return fail(Errc::unsupported, "only AdmissionReviews of " + std::string(review_version) +
                                       " are answered, not of " + in_quotes(version, 80));
  json::value* asked = document->get_object().if_contains("request");
  if (!asked || !asked->is_object()) return malformed("it has no request");
  json::object& fields = asked->get_object();

  auto object = take_object(fields, "object");
  if (!object) return malformed("its object is not a JSON object");
  auto old_object = take_object(fields, "oldObject");
  if (!old_object) return malformed("its oldObject is not a JSON object");
  Request request{.object = std::move(*object), .old_object = std::move(*old_object)};
  request.uid = string_at(fields, {"uid"});
  if (request.uid.empty() || request.uid.size() > 256) return malformed("the request has no usable uid");
  if (!read_operation(string_at(fields, {"operation"}), request.operation))
    return malformed("the request has no known operation");
  request.group = string_at(fields, {"resource", "group"});
  request.version = string_at(fields, {"resource", "version"});
  request.plural = string_at(fields, {"resource", "resource"});
  request.subresource = string_at(fields, {"subResource"});
  request.ns = string_at(fields, {"namespace"});
  request.name = string_at(fields, {"name"});
  request.user.name = string_at(fields, {"userInfo", "username"});
  for (const json::value& group : array_at(fields, {"userInfo", "groups"})) {
    if (!group.is_string() || request.user.groups.size() >= max_groups)
      return malformed("its groups are not strings, or are more than " + std::to_string(max_groups));
    request.user.groups.emplace_back(group.get_string());
  }
  request.dry_run = bool_at(fields, {"dryRun"});
  if (request.writes() && request.object.tree().empty()) return malformed("the request has no object");
  if (request.operation == Operation::update && request.old_object.tree().empty())
    return malformed("the update has no old object");
  return request;
}

Answer Answer::deny(std::string message) {
  return {.allowed = false, .code = 403, .reason = "Forbidden", .message = std::move(message)};
}

Answer Answer::invalid(std::string message) {
  return {.allowed = false, .code = 422, .reason = "Invalid", .message = std::move(message)};
}

Answer Answer::unavailable(std::string message, int retry_after_seconds) {
  return {.allowed = false,
          .code = 503,
          .reason = "ServiceUnavailable",
          .message = std::move(message),
          .retry_after_seconds = retry_after_seconds};
}

std::string encode_review(std::string_view uid, const Answer& answer) {
  json::object response;
  response["uid"] = uid;
  response["allowed"] = answer.allowed;
  if (!answer.allowed) {
    json::object status;
    status["code"] = answer.code;
    status["reason"] = answer.reason;
    status["message"] = clipped(answer.message);
    if (answer.retry_after_seconds > 0)
      status["details"] = json::object{{"retryAfterSeconds", answer.retry_after_seconds}};
    response["status"] = std::move(status);
  }
  if (answer.allowed && !answer.patch.empty()) {
    response["patchType"] = "JSONPatch";
    response["patch"] = encode_base64(json::serialize(answer.patch));
  }
  if (!answer.warnings.empty()) {
    json::array warnings;
    for (const std::string& warning : answer.warnings) warnings.emplace_back(clipped(warning));
    response["warnings"] = std::move(warnings);
  }
  json::object review;
  review["apiVersion"] = review_version;
  review["kind"] = "AdmissionReview";
  review["response"] = std::move(response);
  return json::serialize(review);
}

}  // namespace kube::admission
