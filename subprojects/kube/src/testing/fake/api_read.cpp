// List and watch on the fake API server: pages, versions, selectors, 410.

#include "kube/base/base64.hpp"
#include "kube/base/scalar.hpp"
#include "kube/testing/fake/api_server.hpp"
#include "request.hpp"

namespace kube::testing {

namespace {

std::optional<std::int64_t> number(std::string_view text) {
  const auto value = read_number<std::int64_t>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

/// Where a paged list goes on: the version of its first page, and the last key sent.
struct Continuation {
  std::uint64_t version = 0;
  ObjectKey after;
};

std::string encode(const Continuation& at) {
  return encode_base64(json::serialize(json::object{{"rv", at.version}, {"ns", at.after.ns}, {"name", at.after.name}}));
}

std::optional<Continuation> decode(std::string_view token) {
  auto text = decode_base64(token);
  if (!text) return std::nullopt;
  auto tree = parse_json(*text);
  if (!tree) return std::nullopt;
  return Continuation{static_cast<std::uint64_t>(int_at(*tree, {"rv"})),
                      {std::string(string_at(*tree, {"ns"})), std::string(string_at(*tree, {"name"}))}};
}

std::unexpected<Refusal> from_the_future(std::uint64_t asked, std::uint64_t current) {
  json::object details{{"causes", json::array{json::object{{"reason", "ResourceVersionTooLarge"},
                                                           {"message", "Too large resource version"}}}},
                       {"retryAfterSeconds", 1}};
  return std::unexpected(Refusal{
      504, "Timeout", "Too large resource version: " + std::to_string(asked) + ", current: " + std::to_string(current),
      std::move(details)});
}

/// What a list shows: a table, now or as it was, from some key on.
struct ListedState {
  std::uint64_t version = 0;
  ObjectKey after;                                    ///< the last key of the page before; empty for the first page
  std::optional<std::map<ObjectKey, Tree>> snapshot;  ///< nothing: the table as it is

  const std::map<ObjectKey, Tree>& objects(const FakeTable& table) const {
    return snapshot ? *snapshot : table.objects;
  }
};

Answer<ListedState> listed_state(FakeStore& store, const FakeManners& manners, const FakeRequest& request) {
  const FakeTable& table = *request.table;
  const std::uint64_t current = store.version();
  const std::string_view asked = request.parameter("resourceVersion");
  if (const std::string_view token = request.parameter("continue"); !token.empty()) {
    const auto at = decode(token);
    if (!at) return refuse::bad_request("continue key is not valid");
    if (at->version < store.compacted() || manners.pages_expire)
      return refuse::expired("The provided continue parameter is too old to display a consistent list result.");
    return ListedState{at->version, at->after, store.snapshot(table, at->version)};
  }
  if (asked == "0" && manners.cached_at)
    return ListedState{*manners.cached_at, {}, store.snapshot(table, *manners.cached_at)};
  if (!asked.empty() && asked != "0") {
    const auto parsed = number(asked);
    if (!parsed) return refuse::bad_request("invalid resource version \"" + std::string(asked) + "\"");
    const auto version = static_cast<std::uint64_t>(*parsed);
    if (version > current) return from_the_future(version, current);
    if (request.parameter("resourceVersionMatch") == "Exact") {
      if (version < store.compacted()) return refuse::expired("The resourceVersion for the provided list is too old.");
      return ListedState{version, {}, store.snapshot(table, version)};
    }
  }
  return ListedState{current, {}, std::nullopt};
}

/// An object as an element of a list.
json::object list_item(const FakeRequest& request, const json::object& object) {
  if (request.metadata_only) return json::object{{"metadata", object.at("metadata")}};
  json::object item = object;
  if (!request.table->kind.custom) {
    // As the real server: the elements of a list of a built-in kind do not name their kind.
    item.erase("kind");
    item.erase("apiVersion");
  }
  return item;
}

}  // namespace

Answer<FakeAnswer> FakeApiServer::list_answer(const FakeRequest& request) {
  const FakeTable& table = *request.table;
  KUBE_TRY(selector, parse_selector(request.parameter("labelSelector"), request.parameter("fieldSelector")));
  const std::int64_t limit = number(request.parameter("limit")).value_or(0);
  KUBE_TRY(state, listed_state(store_, manners_, request));
  const std::map<ObjectKey, Tree>& objects = state.objects(table);

  json::array items;
  json::object metadata{{"resourceVersion", std::to_string(state.version)}};
  std::int64_t remaining = 0;
  ObjectKey last;
  for (auto at = state.after.name.empty() ? objects.begin() : objects.upper_bound(state.after); at != objects.end();
       ++at) {
    const json::object& object = *at->second;
    if (!request.key.ns.empty() && at->first.ns != request.key.ns) continue;
    if (!selector.matches(object)) continue;
    if (limit > 0 && static_cast<std::int64_t>(items.size()) == limit) {
      ++remaining;
      continue;
    }
    items.push_back(list_item(request, object));
    last = at->first;
  }
  if (remaining > 0) {
    metadata["continue"] = encode({state.version, last});
    if (selector.empty()) metadata["remainingItemCount"] = remaining;
  }
  json::object list{{"kind", request.metadata_only ? "PartialObjectMetadataList" : table.kind.kind + "List"},
                    {"apiVersion", request.metadata_only ? "meta.k8s.io/v1" : table.kind.api_version()},
                    {"metadata", std::move(metadata)},
                    {"items", std::move(items)}};
  FakeAnswer answer;
  answer.body = json::serialize(list);
  return answer;
}

Answer<FakeAnswer> FakeApiServer::watch_answer(const FakeRequest& request) {
  FakeTable& table = *request.table;
  KUBE_TRY(selector, parse_selector(request.parameter("labelSelector"), request.parameter("fieldSelector")));
  const std::string_view asked = request.parameter("resourceVersion");
  using enum FakeManners::StreamingLists;
  const bool asks_for_list = request.is_set("sendInitialEvents");
  if (asks_for_list && manners_.streaming_lists == off)
    return refuse::invalid({"meta.k8s.io", "ListOptions", ""}, "sendInitialEvents",
                           "Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is "
                           "enabled");
  const bool streams_list = asks_for_list && manners_.streaming_lists == on;
  const bool match = !asks_for_list && !request.parameter("resourceVersionMatch").empty();
  if (streams_list ? request.parameter("resourceVersionMatch") != "NotOlderThan" : match)
    return refuse::invalid({"meta.k8s.io", "ListOptions", ""}, "resourceVersionMatch",
                           "Forbidden: resourceVersionMatch=NotOlderThan and sendInitialEvents go together for watch");

  FakeWatchOptions options{.ns = request.key.ns, .selector = std::move(selector)};
  options.bookmarks = request.is_set("allowWatchBookmarks");
  if (const auto seconds = number(request.parameter("timeoutSeconds")); seconds && *seconds > 0)
    options.timeout = std::chrono::seconds(*seconds);
  options.initial_events = streams_list || asked.empty() || asked == "0";
  options.initial_bookmark = streams_list && options.bookmarks;
  if (streams_list) options.cut_at = manners_.streams_cut_at;
  options.metadata_only = request.metadata_only;

  FakeAnswer answer;
  if (manners_.watch_error != 0) {
    answer.watch = std::make_unique<FakeWatch>(
        store_, table,
        manners_.watch_error == 410 ? refuse::expired("too old resource version").error()
                                    : Refusal{manners_.watch_error, "InternalError", "the watch failed", {}});
    return answer;
  }
  if (!options.initial_events) {
    const auto version = number(asked);
    if (!version) return refuse::bad_request("invalid resource version \"" + std::string(asked) + "\"");
    options.after = static_cast<std::uint64_t>(*version);
    if (options.after < store_.compacted()) {
      const Refusal gone = refuse::expired("too old resource version: " + std::string(asked) + " (" +
                                           std::to_string(store_.compacted()) + ")")
                               .error();
      answer.watch = std::make_unique<FakeWatch>(store_, table, gone);
      return answer;
    }
  }
  answer.watch = std::make_unique<FakeWatch>(store_, table, std::move(options));
  return answer;
}

}  // namespace kube::testing
