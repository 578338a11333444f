#include "kube/testing/fake/watch.hpp"

#include <algorithm>
#include <utility>

namespace kube::testing {

namespace {

/// How often the real server sends bookmarks, about.
constexpr Duration bookmark_interval = std::chrono::minutes(1);

std::string line(std::string_view type, std::string_view object) {
  std::string text;
  text.reserve(object.size() + 40);
  return text.append("{\"type\":\"").append(type).append("\",\"object\":").append(object).append("}\n");
}

}  // namespace

FakeWatch::FakeWatch(FakeStore& store, FakeTable& table, FakeWatchOptions options)
    : store_(store),
      table_(table),
      options_(std::move(options)),
      opened_at_(store.version()),
      ends_at_(store.clock().now() + options_.timeout),
      bookmark_at_(options_.bookmarks ? store.clock().now() + bookmark_interval : TimePoint::max()),
      rewinds_(store.rewinds()) {
  registration_ = table_.watchers.insert(table_.watchers.end(), [this] {
    if (wake_) wake_();
  });
  if (options_.initial_events) {
    for (const auto& [key, object] : table_.objects)
      if (selects(*object)) initial_.push_back(object);
    std::ranges::reverse(initial_);
    cursor_ = table_.log.size();
    announce_initial_ = options_.initial_bookmark;
  } else {
    cursor_ = table_.position_after(options_.after);
  }
}

FakeWatch::FakeWatch(FakeStore& store, FakeTable& table, const Refusal& refusal)
    : FakeWatch(store, table, FakeWatchOptions{.after = store.version()}) {
  last_words_ = line("ERROR", json::serialize(refusal.document()));
}

FakeWatch::~FakeWatch() { table_.watchers.erase(registration_); }

bool FakeWatch::selects(const json::object& object) const {
  return (options_.ns.empty() || string_at(object, {"metadata", "namespace"}) == options_.ns) &&
         options_.selector.matches(object);
}

std::optional<std::string> FakeWatch::next() {
  if (store_.rewinds() != rewinds_) closed_ = true;
  if (closed_) return std::nullopt;
  if (last_words_) {
    closed_ = true;
    return std::exchange(last_words_, std::nullopt);
  }
  if (options_.cut_at && (*options_.cut_at == 0 || initial_.empty())) {
    closed_ = true;
    return std::nullopt;
  }
  if (!initial_.empty()) {
    if (options_.cut_at) --*options_.cut_at;
    std::string event = line("ADDED", text_of(*initial_.back()));
    initial_.pop_back();
    return event;
  }
  if (announce_initial_) {
    announce_initial_ = false;
    return bookmark(opened_at_, true);
  }
  while (cursor_ < table_.log.size()) {
    const FakeChange& change = table_.log[cursor_++];
    // As the real server: a watch from a version that is still to come has no event before it.
    if (change.version <= options_.after) continue;
    if (auto event = translate(change)) return event;
  }
  if (!table_.is_served) {
    closed_ = true;
    return std::nullopt;
  }
  const TimePoint now = store_.clock().now();
  if (now >= ends_at_) {
    closed_ = true;
    return std::nullopt;
  }
  if (now >= bookmark_at_) {
    bookmark_at_ = now + bookmark_interval;
    if (store_.version() < options_.after) return std::nullopt;
    return bookmark(store_.version(), false);
  }
  return std::nullopt;
}

bool FakeWatch::ended() const { return store_.rewinds() != rewinds_ || (closed_ && !last_words_); }

TimePoint FakeWatch::due() const { return std::min(ends_at_, bookmark_at_); }

void FakeWatch::close() {
  closed_ = true;
  last_words_.reset();
  if (wake_) wake_();
}

std::optional<std::string> FakeWatch::translate(const FakeChange& change) const {
  if (!options_.ns.empty() && change.key.ns != options_.ns) return std::nullopt;
  const bool before = change.before && options_.selector.matches(*change.before);
  const bool after = change.type != ChangeType::deleted && options_.selector.matches(*change.after);
  const auto text = [&] { return options_.metadata_only ? text_of(*change.after) : change.after_text(); };
  if (after) return line(before ? "MODIFIED" : "ADDED", text());
  if (!before) return std::nullopt;
  if (change.type == ChangeType::deleted) return line("DELETED", text());
  // The object left the selection: the client gets its last state there, with the version of this change.
  json::object last = *change.before;
  ensure_object(last, "metadata")["resourceVersion"] = std::to_string(change.version);
  return line("DELETED", text_of(last));
}

std::string FakeWatch::text_of(const json::object& object) const {
  if (!options_.metadata_only) return json::serialize(object);
  return json::serialize(json::object{
      {"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}, {"metadata", object.at("metadata")}});
}

std::string FakeWatch::bookmark(std::uint64_t version, bool initial) const {
  json::object metadata{{"resourceVersion", std::to_string(version)}, {"creationTimestamp", nullptr}};
  if (initial) metadata["annotations"] = json::object{{"k8s.io/initial-events-end", "true"}};
  json::object object{
      {"kind", table_.kind.kind}, {"apiVersion", table_.kind.api_version()}, {"metadata", std::move(metadata)}};
  return line("BOOKMARK", json::serialize(object));
}

}  // namespace kube::testing
