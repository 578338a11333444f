#include "request.hpp"
#include "kube/base/text.hpp"
#include "kube/base/url.hpp"

namespace kube::testing {

namespace {

/// What is not percent-encoded as it should be stays as it is.
std::string decode(std::string_view text, bool plus_is_space) {
  return percent_decode(text, plus_is_space).value_or(std::string(text));
}

}  // namespace

Answer<FakeRequest> read_request(FakeStore& store, const HttpRequest& http) {
  FakeRequest request;
  request.method = http.method;
  const std::string_view content_type = find_header(http.headers, "content-type");
  request.content_type = content_type.substr(0, content_type.find(';'));
  request.metadata_only = find_header(http.headers, "accept").contains(";as=PartialObjectMetadata");

  const std::string_view target = http.target;
  const std::size_t mark = target.find('?');
  std::vector<std::string> segments;
  for (const std::string_view part : split(path_of(target), '/')) segments.push_back(decode(part, false));
  if (mark != std::string_view::npos)
    for (const std::string_view part : split(target.substr(mark + 1), '&')) {
      const std::size_t equals = part.find('=');
      request.query[decode(part.substr(0, equals), true)] =
          equals == std::string_view::npos ? "" : decode(part.substr(equals + 1), true);
    }

  // /api/v1/... or /apis/group/version/..., then [namespaces/NS/]plural[/name[/subresource]].
  const bool core = !segments.empty() && segments[0] == "api";
  const std::size_t prefix = core ? 2 : 3;
  if (segments.size() <= prefix || (!core && segments[0] != "apis")) return refuse::no_such_path();
  const std::string group = core ? "" : segments[1];
  const std::string version = segments[prefix - 1];
  std::vector<std::string> rest(segments.begin() + static_cast<std::ptrdiff_t>(prefix), segments.end());
  const bool scoped = rest[0] == "namespaces" && rest.size() >= 3 && rest[2] != "status" && rest[2] != "finalize";
  if (scoped) {
    request.key.ns = rest[1];
    rest.erase(rest.begin(), rest.begin() + 2);
  }
  request.table = store.find(group, version, rest[0]);
  if (!request.table || rest.size() > 3) return refuse::no_such_path();
  if (rest.size() > 1) request.key.name = rest[1];
  if (rest.size() > 2) request.subresource = rest[2];
  const bool namespaced = request.table->kind.namespaced;
  if (namespaced ? !scoped && !request.key.name.empty() : scoped) return refuse::no_such_path();

  if (!http.body.empty()) {
    auto body = parse_json(http.body);
    if (!body) return refuse::bad_request("the body is not JSON: " + body.error().text());
    request.body = std::move(*body);
  }
  return request;
}

}  // namespace kube::testing
