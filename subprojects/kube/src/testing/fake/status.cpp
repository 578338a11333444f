#include "kube/testing/fake/status.hpp"

namespace kube::testing {

namespace {

std::string qualified(std::string_view plural, std::string_view group) {
  std::string text(plural);
  if (!group.empty()) text.append(".").append(group);
  return text;
}

json::object about(std::string_view group, std::string_view kind, std::string_view name) {
  json::object details{{"name", name}, {"kind", kind}};
  if (!group.empty()) details["group"] = group;
  return details;
}

}  // namespace

json::object Refusal::document() const {
  json::object status{{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", json::object()},
                      {"status", "Failure"}, {"message", message}, {"reason", reason},
                      {"code", code}};
  if (!details.empty()) status["details"] = details;
  return status;
}

namespace refuse {

std::unexpected<Refusal> bad_request(std::string message) {
  return std::unexpected(Refusal{400, "BadRequest", std::move(message), {}});
}

std::unexpected<Refusal> not_found(std::string_view group, std::string_view plural, std::string_view name) {
  return std::unexpected(Refusal{404, "NotFound", qualified(plural, group) + " \"" + std::string(name) + "\" not found",
                                 about(group, plural, name)});
}

std::unexpected<Refusal> no_such_path() {
  return std::unexpected(Refusal{404, "NotFound", "the server could not find the requested resource", {}});
}

std::unexpected<Refusal> already_exists(std::string_view group, std::string_view plural, std::string_view name) {
  return std::unexpected(Refusal{409, "AlreadyExists",
                                 qualified(plural, group) + " \"" + std::string(name) + "\" already exists",
                                 about(group, plural, name)});
}

std::unexpected<Refusal> conflict(std::string_view group, std::string_view plural, std::string_view name,
                                  std::string_view why) {
  return std::unexpected(Refusal{409, "Conflict",
                                 "Operation cannot be fulfilled on " + qualified(plural, group) + " \"" +
                                     std::string(name) + "\": " + std::string(why),
                                 about(group, plural, name)});
}

std::unexpected<Refusal> stale(std::string_view group, std::string_view plural, std::string_view name) {
  return conflict(group, plural, name, "the object has been modified since it was read");
}

std::unexpected<Refusal> invalid(const About& object, std::string_view field, std::string_view why) {
  const auto& [group, kind, name] = object;
  json::object details = about(group, kind, name);
  details["causes"] = json::array{json::object{{"reason", "FieldValueInvalid"}, {"message", why}, {"field", field}}};
  return std::unexpected(Refusal{422, "Invalid",
                                 qualified(kind, group) + " \"" + std::string(name) +
                                     "\" is invalid: " + std::string(field) + ": " + std::string(why),
                                 std::move(details)});
}

std::unexpected<Refusal> expired(std::string message) {
  return std::unexpected(Refusal{410, "Expired", std::move(message), {}});
}

std::unexpected<Refusal> unsupported_media_type(std::string_view media) {
  return std::unexpected(
      Refusal{415, "UnsupportedMediaType", "the media type \"" + std::string(media) + "\" is not supported here", {}});
}

std::unexpected<Refusal> method_not_allowed() {
  return std::unexpected(Refusal{405, "MethodNotAllowed", "the server does not allow this method here", {}});
}

Refusal too_many_requests(int retry_after_seconds) {
  return Refusal{429, "TooManyRequests", "too many requests, please wait",
                 json::object{{"retryAfterSeconds", retry_after_seconds}}};
}

Refusal internal_error(std::string message) { return Refusal{500, "InternalError", std::move(message), {}}; }

Refusal unavailable() { return Refusal{503, "ServiceUnavailable", "the server is not ready for requests", {}}; }

}  // namespace refuse
}  // namespace kube::testing
