#include "controllers/reflection/copies.hpp"

#include <algorithm>
#include <set>

namespace liqo::controllers {

Copies::Copies(kube::StoreBudget& budget, const kube::Resource& resource, std::string ns)
    : budget_(budget), resource_(resource.plural), ns_(std::move(ns)) {}

Copies::~Copies() { clear(); }

std::size_t Copies::size_of(const Entries::value_type& entry) {
  const auto& [name, copy] = entry;
  return name.size() + copy.uid.size() + (copy.settled_for ? copy.settled_for->size() : 0);
}

template <class F>
void Copies::change(const std::string& name, const F& how) {
  const auto [at, added] = copies_.try_emplace(name);
  const std::size_t before = added ? 0 : size_of(*at);
  how(at->second);
  budget_.change(std::ptrdiff_t(size_of(*at)) - std::ptrdiff_t(before), added ? 1 : 0, resource_, ns_);
}

Copies::Entries::iterator Copies::drop(Entries::iterator at) {
  budget_.change(-std::ptrdiff_t(size_of(*at)), -1, resource_, ns_);
  return copies_.erase(at);
}

const Copy* Copies::find(const std::string& name) const {
  const auto found = copies_.find(name);
  return found == copies_.end() ? nullptr : &found->second;
}

std::vector<std::string> Copies::names() const {
  std::vector<std::string> out;
  out.reserve(copies_.size());
  for (const auto& [name, copy] : copies_) out.push_back(name);
  return out;
}

void Copies::find_there(const kube::Object& object) {
  change(std::string(object.name()),
         [&](Copy& copy) { copy = {.uid = std::string(object.uid()), .version = object.version_number()}; });
}

void Copies::settle(const kube::Object& object, std::string wish, std::uint64_t source, bool is_ours) {
  change(std::string(object.name()), [&](Copy& copy) {
    copy = {.uid = std::string(object.uid()),
            .version = object.version_number(),
            .settled_for = std::move(wish),
            .is_ours = is_ours,
            .source = source};
  });
}

void Copies::settle_source(const std::string& name, std::uint64_t source) {
  if (copies_.contains(name)) change(name, [&](Copy& copy) { copy.source = source; });
}

void Copies::doubt(const std::string& name) {
  change(name, [](Copy& copy) { copy.settled_for.reset(); });
}

void Copies::doubt_source(const std::string& name) {
  if (const auto found = copies_.find(name); found != copies_.end()) found->second.source = UINT64_MAX;
}

void Copies::doubt_sources() {
  for (auto& [name, copy] : copies_) copy.source = UINT64_MAX;
}

void Copies::erase(const std::string& name) {
  if (const auto found = copies_.find(name); found != copies_.end()) drop(found);
}

void Copies::clear() {
  for (auto at = copies_.begin(); at != copies_.end();) at = drop(at);
}

std::uint64_t Copies::newest() const {
  std::uint64_t newest = 0;
  for (const auto& [name, copy] : copies_) newest = std::max(newest, copy.version);
  return newest;
}

std::vector<std::string> Copies::compare(std::span<const Seen> listed, std::uint64_t list_version) {
  std::vector<std::string> due;
  std::set<std::string_view> there;
  for (const Seen& seen : listed) {
    there.insert(seen.name);
    const Copy* known = find(seen.name);
    // A copy that is newer than the list was written after it. A listed version that is older than a known one comes
    // from a restored database, and differs.
    if (known && (known->version > list_version || (known->version == seen.version && known->uid == seen.uid)))
      continue;
    change(seen.name, [&](Copy& copy) { copy = {.uid = seen.uid, .version = seen.version}; });
    due.push_back(seen.name);
  }
  for (auto at = copies_.begin(); at != copies_.end();) {
    // A copy that was written after the list was made cannot be in it.
    if (there.contains(at->first) || at->second.version > list_version) {
      ++at;
      continue;
    }
    due.push_back(at->first);
    at = drop(at);
  }
  return due;
}

}  // namespace liqo::controllers
