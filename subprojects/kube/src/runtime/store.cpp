#include "kube/runtime/store.hpp"

#include <algorithm>
#include <stdexcept>

namespace kube {
namespace {

std::string index_key(std::string_view name, std::string_view value) {
  return std::string(name).append(1, '\0').append(value);
}

/// Lambdas have a type each; plain functions share theirs.
bool is_same(const Store::IndexFunction& one, const Store::IndexFunction& other) {
  if (one.target_type() != other.target_type()) return false;
  using Plain = void (*)(const Object&, std::vector<std::string>&);
  const Plain* const plain = one.target<Plain>();
  return !plain || *plain == *other.target<Plain>();
}

}  // namespace

void Store::add_index(std::string name, IndexFunction values_of) {
  for (const Index& index : indices_) {
    if (index.name != name) continue;
    if (!is_same(index.values_of, values_of))
      throw std::logic_error("the index \"" + name + "\" of a shared store is made by two functions");
    return;
  }
  indices_.push_back({std::move(name), std::move(values_of)});
  for (auto& [key, entry] : entries_) {
    const auto object = find(key);
    if (!object) continue;
    unindex(key, entry);
    entry.index_values = index_values(*object);
    enter(key, entry);
  }
}

std::optional<Object> Store::find(const ObjectKey& key) const {
  const auto at = entries_.find(key);
  if (at == entries_.end()) return std::nullopt;
  auto object = Object::parse(at->second.text);
  if (!object) return std::nullopt;  // it was serialised by put(), so it parses
  return std::move(*object);
}

std::string_view Store::uid(const ObjectKey& key) const {
  const auto at = entries_.find(key);
  return at == entries_.end() ? std::string_view() : std::string_view(at->second.uid);
}

std::uint64_t Store::version(const ObjectKey& key) const {
  const auto at = entries_.find(key);
  return at == entries_.end() ? 0 : at->second.version;
}

std::size_t Store::bytes(const ObjectKey& key) const {
  const auto at = entries_.find(key);
  return at == entries_.end() ? 0 : at->second.text.size();
}

std::vector<ObjectKey> Store::keys() const {
  std::vector<ObjectKey> all;
  all.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) all.push_back(key);
  return all;
}

std::vector<ObjectKey> Store::keys_in(std::string_view ns) const {
  if (ns.empty()) return keys();
  std::vector<ObjectKey> found;
  for (auto at = entries_.lower_bound({std::string(ns), ""}); at != entries_.end() && at->first.ns == ns; ++at)
    found.push_back(at->first);
  return found;
}

std::size_t Store::count_in(std::string_view ns) const {
  if (ns.empty()) return size();
  std::size_t count = 0;
  for (auto at = entries_.lower_bound({std::string(ns), ""}); at != entries_.end() && at->first.ns == ns; ++at) ++count;
  return count;
}

std::vector<ObjectKey> Store::keys(std::string_view name, std::string_view value) const {
  const auto at = indexed_.find(index_key(name, value));
  if (at == indexed_.end()) return {};
  return {at->second.begin(), at->second.end()};
}

std::size_t Store::count(std::string_view name, std::string_view value) const {
  const auto at = indexed_.find(index_key(name, value));
  return at == indexed_.end() ? 0 : at->second.size();
}

std::vector<std::string> Store::index_values(const Object& object) const {
  std::vector<std::string> all, values;
  for (const Index& index : indices_) {
    values.clear();
    index.values_of(object, values);
    for (const std::string& value : values) all.push_back(index_key(index.name, value));
  }
  return all;
}

void Store::enter(const ObjectKey& key, const Entry& entry) {
  for (const std::string& value : entry.index_values) indexed_[value].insert(key);
}

std::optional<Store::PreviousText> Store::put(const Object& object) {
  const std::uint64_t version = object.version_number();
  const auto known = entries_.find(object.key());
  if (known != entries_.end() && version != 0) {
    const Entry& entry = known->second;
    // Of equal versions and different UIDs one is of a history that is no more.
    if (version < entry.version || (version == entry.version && object.uid() == entry.uid)) return std::nullopt;
  }
  // First what may throw.
  std::vector<std::string> values = index_values(object);
  std::string text = object.text();
  text.shrink_to_fit();
  const auto at = known != entries_.end() ? known : entries_.try_emplace(object.key()).first;
  Entry& entry = at->second;
  unindex(at->first, entry);
  bytes_ += text.size();
  bytes_ -= entry.text.size();
  PreviousText previous = std::move(entry.text);
  entry = {std::move(text), std::string(object.uid()), version, std::move(values)};
  enter(at->first, entry);
  return previous;
}

std::optional<Store::PreviousText> Store::remove(const ObjectKey& key, std::uint64_t version) {
  const auto at = entries_.find(key);
  if (at == entries_.end() || (version != 0 && version < at->second.version)) return std::nullopt;
  return erase(at);
}

std::vector<std::pair<ObjectKey, Store::PreviousText>> Store::retain(const std::set<ObjectKey>& listed,
                                                                     std::uint64_t version) {
  std::vector<std::pair<ObjectKey, PreviousText>> gone;
  for (auto at = entries_.begin(); at != entries_.end();) {
    const auto next = std::next(at);
    if (!listed.contains(at->first) && at->second.version <= version) {
      ObjectKey key = at->first;
      gone.emplace_back(std::move(key), erase(at));
    }
    at = next;
  }
  return gone;
}

void Store::forget_versions() {
  for (auto& [key, entry] : entries_) entry.version = 0;
}

void Store::unindex(const ObjectKey& key, const Entry& entry) {
  for (const std::string& value : entry.index_values) {
    const auto at = indexed_.find(value);
    if (at == indexed_.end()) continue;
    at->second.erase(key);
    if (at->second.empty()) indexed_.erase(at);
  }
}

Store::PreviousText Store::erase(Entries::iterator at) {
  unindex(at->first, at->second);
  bytes_ -= at->second.text.size();
  PreviousText text = std::move(at->second.text);
  entries_.erase(at);
  return text;
}

void StoredObjects::Iterator::find() {
  object_.reset();
  for (; at_ < objects_->keys_.size() && !object_; at_ += object_ ? 0 : 1)
    object_ = objects_->store_->find(objects_->keys_[at_]);
}

}  // namespace kube
