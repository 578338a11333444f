#include "kube/runtime/store.hpp"

#include <algorithm>
#include <charconv>

namespace kube {
namespace {

std::string index_key(std::string_view name, std::string_view value) {
  return std::string(name).append(1, '\0').append(value);
}

}  // namespace

std::uint64_t Store::version_number(std::string_view resource_version) {
  std::uint64_t number = 0;
  const auto end = resource_version.data() + resource_version.size();
  const auto [at, failure] = std::from_chars(resource_version.data(), end, number);
  return failure == std::errc() && at == end ? number : 0;
}

void Store::add_index(std::string name, IndexFunction values_of) {
  for (const Index& index : indices_)
    if (index.name == name) return;
  indices_.push_back({std::move(name), std::move(values_of)});
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

std::vector<ObjectKey> Store::keys() const {
  std::vector<ObjectKey> all;
  all.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) all.push_back(key);
  return all;
}

std::vector<ObjectKey> Store::keys(std::string_view name, std::string_view value) const {
  const auto at = indexed_.find(index_key(name, value));
  if (at == indexed_.end()) return {};
  return {at->second.begin(), at->second.end()};
}

bool Store::put(const Object& object) {
  const std::uint64_t version = version_number(object.resource_version());
  const auto [at, is_new] = entries_.try_emplace(object.key());
  Entry& entry = at->second;
  if (!is_new && version != 0 && version <= entry.version) return false;
  if (!is_new) {
    unindex(at->first, entry);
    bytes_ -= entry.text.size();
  }
  entry.text = object.text();
  entry.text.shrink_to_fit();
  entry.uid = object.uid();
  entry.version = version;
  entry.index_values.clear();
  bytes_ += entry.text.size();
  std::vector<std::string> values;
  for (const Index& index : indices_) {
    values.clear();
    index.values_of(object, values);
    for (const std::string& value : values) {
      entry.index_values.push_back(index_key(index.name, value));
      indexed_[entry.index_values.back()].insert(at->first);
    }
  }
  return true;
}

bool Store::remove(const ObjectKey& key, std::uint64_t version) {
  const auto at = entries_.find(key);
  if (at == entries_.end() || (version != 0 && version < at->second.version)) return false;
  erase(at);
  return true;
}

std::vector<ObjectKey> Store::retain(const std::set<ObjectKey>& listed, std::uint64_t version) {
  std::vector<ObjectKey> gone;
  for (const auto& [key, entry] : entries_)
    if (!listed.contains(key) && entry.version <= version) gone.push_back(key);
  for (const ObjectKey& key : gone) erase(entries_.find(key));
  return gone;
}

void Store::unindex(const ObjectKey& key, const Entry& entry) {
  for (const std::string& value : entry.index_values) {
    const auto at = indexed_.find(value);
    if (at == indexed_.end()) continue;
    at->second.erase(key);
    if (at->second.empty()) indexed_.erase(at);
  }
}

void Store::erase(Entries::iterator at) {
  unindex(at->first, at->second);
  bytes_ -= at->second.text.size();
  entries_.erase(at);
}

}  // namespace kube
