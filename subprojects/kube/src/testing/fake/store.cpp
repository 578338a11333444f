#include "kube/testing/fake/store.hpp"

#include <algorithm>
#include <stdexcept>

#include "kube/base/hex.hpp"

namespace kube::testing {

namespace {

std::string table_name(std::string_view group, std::string_view version, std::string_view plural) {
  return std::string(group).append("/").append(version).append("/").append(plural);
}

ObjectKey key_of(const json::object& object) {
  return {std::string(string_at(object, {"metadata", "namespace"})),
          std::string(string_at(object, {"metadata", "name"}))};
}

}  // namespace

const std::string& FakeChange::after_text() const {
  if (text.empty()) text = json::serialize(*after);
  return text;
}

std::size_t FakeTable::position_after(std::uint64_t version) const {
  const auto found = std::ranges::upper_bound(log, version, {}, &FakeChange::version);
  return static_cast<std::size_t>(found - log.begin());
}

void FakeStore::serve(FakeKind kind) {
  FakeTable& table = tables_[table_name(kind.group, kind.version, kind.plural)];
  table.kind = std::move(kind);
  table.is_served = true;
}

void FakeStore::withdraw(const Resource& resource, std::string_view actor) {
  FakeTable& table = this->table(resource);
  while (!table.objects.empty()) erase(table, ObjectKey(table.objects.begin()->first), actor);
  table.is_served = false;
  for (const auto& wake : table.watchers) wake();
}

FakeTable* FakeStore::find(std::string_view group, std::string_view version, std::string_view plural) {
  const auto found = tables_.find(table_name(group, version, plural));
  return found == tables_.end() || !found->second.is_served ? nullptr : &found->second;
}

FakeTable& FakeStore::table(const Resource& resource) {
  const auto found = tables_.find(table_name(resource.group, resource.version, resource.plural));
  if (found == tables_.end())
    throw std::logic_error("the fake API server does not serve " + std::string(resource.plural));
  return found->second;
}

std::map<ObjectKey, Tree> FakeStore::snapshot(const FakeTable& table, std::uint64_t version) const {
  std::map<ObjectKey, Tree> objects = table.objects;
  for (auto change = table.log.rbegin(); change != table.log.rend() && change->version > version; ++change) {
    if (change->before)
      objects[change->key] = change->before;
    else
      objects.erase(change->key);
  }
  return objects;
}

void FakeStore::rewind(std::uint64_t version) {
  ++rewinds_;
  for (auto& [name, table] : tables_) {
    table.objects = snapshot(table, version);
    table.log.erase(table.log.begin() + static_cast<std::ptrdiff_t>(table.position_after(version)), table.log.end());
  }
  version_ = std::min(version_, version);
  compacted_ = version_;
  for (auto& [name, table] : tables_)
    for (const auto& wake : table.watchers) wake();
}

Tree FakeStore::put(FakeTable& table, json::object object, std::string_view actor) {
  ObjectKey key = key_of(object);
  const std::uint64_t version = ++version_;
  ensure_object(object, "metadata")["resourceVersion"] = std::to_string(version);
  Tree& slot = table.objects[key];
  FakeChange change{.version = version,
                    .type = slot ? ChangeType::modified : ChangeType::added,
                    .kind = &table.kind,
                    .key = std::move(key),
                    .before = slot,
                    .after = std::make_shared<const json::object>(std::move(object)),
                    .actor = std::string(actor),
                    .at = clock_.now(),
                    .text = {}};
  slot = change.after;
  Tree stored = slot;
  commit(table, std::move(change));
  return stored;
}

Tree FakeStore::erase(FakeTable& table, const ObjectKey& key, std::string_view actor) {
  const auto found = table.objects.find(key);
  const std::uint64_t version = ++version_;
  json::object last = *found->second;
  ensure_object(last, "metadata")["resourceVersion"] = std::to_string(version);
  FakeChange change{.version = version,
                    .type = ChangeType::deleted,
                    .kind = &table.kind,
                    .key = key,
                    .before = found->second,
                    .after = std::make_shared<const json::object>(std::move(last)),
                    .actor = std::string(actor),
                    .at = clock_.now(),
                    .text = {}};
  Tree gone = change.after;
  table.objects.erase(found);
  commit(table, std::move(change));
  return gone;
}

void FakeStore::commit(FakeTable& table, FakeChange change) {
  table.log.push_back(std::move(change));
  for (const auto& listener : listeners_) listener(table.log.back());
  for (const auto& wake : table.watchers) wake();
}

std::string FakeStore::new_uid() {
  std::string uid = hex(random_.next(), 16);
  uid += hex(random_.next(), 16);
  for (const std::size_t dash : {8U, 13U, 18U, 23U}) uid.insert(dash, 1, '-');
  return uid;
}

std::string FakeStore::new_suffix() {
  constexpr std::string_view letters = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int i = 0; i < 5; ++i)
    suffix += letters[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(letters.size()) - 1))];
  return suffix;
}

}  // namespace kube::testing
