// The memory of an informer: the objects of one watch, held compactly, with indices.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "kube/k8s/object.hpp"
#include "kube/runtime/stored_objects.hpp"

namespace kube {

/// Objects by key, kept as JSON text: a tree costs four to six times as much memory, and parsing one pod costs less
/// than 20 µs. Versions only go forward: an older state of an object never replaces a newer one, until
/// forget_versions() says that the server itself has gone back. One thread.
class Store {
 public:
  /// Appends the index values of an object.
  using IndexFunction = std::function<void(const Object&, std::vector<std::string>&)>;

  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Adds an index, which covers what is stored already, too. Readers that share a store share an index of the same
  /// name; throws std::logic_error if that name stands for another function.
  void add_index(std::string name, IndexFunction values_of);

  /// The object under that key, parsed at each call; nothing if there is none.
  std::optional<Object> find(const ObjectKey& key) const;
  bool contains(const ObjectKey& key) const { return entries_.contains(key); }
  /// The UID under that key, "" if there is no object.
  std::string_view uid(const ObjectKey& key) const;
  /// The version of the object under that key, 0 if there is none.
  std::uint64_t version(const ObjectKey& key) const;
  /// All keys, in order.
  std::vector<ObjectKey> keys() const;
  /// The keys of a namespace, or of all namespaces if `ns` is "", as in a list. Needs no index.
  std::vector<ObjectKey> keys_in(std::string_view ns) const;
  /// How many these are.
  std::size_t count_in(std::string_view ns) const;
  /// The keys of the objects that have `value` in the index `name`.
  std::vector<ObjectKey> keys(std::string_view name, std::string_view value) const;
  /// How many these are.
  std::size_t count(std::string_view name, std::string_view value) const;
  /// The objects under those keys: `for (const Object& object : store.objects_in(ns))`.
  StoredObjects objects() const { return {*this, keys()}; }
  StoredObjects objects_in(std::string_view ns) const { return {*this, keys_in(ns)}; }
  StoredObjects objects(std::string_view name, std::string_view value) const { return {*this, keys(name, value)}; }
  std::size_t size() const { return entries_.size(); }
  /// Bytes of text held.
  std::size_t bytes() const { return bytes_; }
  /// Bytes of the text of the object under that key, 0 if there is none.
  std::size_t bytes(const ObjectKey& key) const;

  /// The text of an object before it was changed or removed; empty if there was none.
  using PreviousText = std::string;
  /// Takes a state of an object. Returns nothing if it is no news: the store has this state or a newer one.
  std::optional<PreviousText> put(const Object& object);
  /// Takes a deletion seen at `version`. Returns nothing if there is no object, or if a newer state is there.
  std::optional<PreviousText> remove(const ObjectKey& key, std::uint64_t version);
  /// Removes what is not in `listed` and not newer than `version`, the version of a complete list. Returns what went.
  std::vector<std::pair<ObjectKey, PreviousText>> retain(const std::set<ObjectKey>& listed, std::uint64_t version);

  /// Keeps every object and takes any state for newer from here on, so that the next complete list replaces all.
  void forget_versions();

 private:
  struct Entry {
    std::string text;
    std::string uid;
    std::uint64_t version = 0;
    std::vector<std::string> index_values;  ///< "<index>\0<value>"
  };
  /// In the order of their keys: a namespace is a range of it.
  using Entries = std::map<ObjectKey, Entry>;
  struct Index {
    std::string name;
    IndexFunction values_of;
  };
  std::vector<std::string> index_values(const Object& object) const;
  void enter(const ObjectKey& key, const Entry& entry);
  void unindex(const ObjectKey& key, const Entry& entry);
  PreviousText erase(Entries::iterator at);

  Entries entries_;
  std::vector<Index> indices_;
  std::unordered_map<std::string, std::set<ObjectKey>> indexed_;
  std::size_t bytes_ = 0;
};

}  // namespace kube
