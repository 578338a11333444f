// A Kubernetes object: its whole JSON tree, with typed access to what every object has.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/json.hpp"
#include "kube/base/memory_account.hpp"
#include "kube/base/time.hpp"
#include "kube/k8s/resource.hpp"

namespace kube {

/// An owner reference of meta/v1, as far as controllers use it.
struct OwnerReference {
  std::string api_version, kind, name, uid;
  bool controller = false;
  bool block_owner_deletion = false;
};

/// A resourceVersion as a number (KEP-5504: they are ordered); 0 if it is none.
std::uint64_t version_number(std::string_view resource_version);

/// The tree of one object. Fields that this program does not know stay in it, so a read-modify-write never loses data
/// of a newer server. Reading never throws: what is absent or of another type reads as empty. A parsed tree lies in one
/// piece of memory (json_arena.hpp) that grows with each change, so an object that is kept and changed for long is kept
/// as a copy.
class Object {
 public:
  Object() = default;
  explicit Object(json::object tree) : tree_(std::move(tree)) {}
  ~Object() = default;
  /// A copy has memory of its own. (That of a json::object would lie in the arena of the original, and stay there.)
  Object(const Object& other) : tree_(other.tree_, json::storage_ptr()) {}
  Object(Object&& other) noexcept = default;
  Object& operator=(const Object& other) { return *this = Object(other); }
  /// Takes over the other's memory with its tree. (Assigning the json::object would copy it into the arena of the old
  /// tree, which frees nothing.)
  Object& operator=(Object&& other) noexcept {
    if (this == &other) return *this;
    std::destroy_at(&tree_);
    std::construct_at(&tree_, std::move(other.tree_));
    return *this;
  }
  /// A new object with apiVersion, kind, name and (for namespaced kinds) namespace.
  static Object make(const Resource& resource, const ObjectKey& key);
  /// Takes a parsed document. Errors: Errc::parse if it is not a JSON object with `metadata.name`.
  static Result<Object> from(json::value tree);
  /// Parses text, with memory of the account if there is one. Errors: those of from(), and Errc::too_large if the
  /// account has too little left.
  static Result<Object> parse(std::string_view text, const std::shared_ptr<MemoryAccount>& account = nullptr);

  const json::object& tree() const { return tree_; }
  json::object& tree() { return tree_; }

  std::string_view api_version() const { return string_at(tree_, {"apiVersion"}); }
  std::string_view kind() const { return string_at(tree_, {"kind"}); }
  std::string_view name() const { return metadata_string("name"); }
  std::string_view ns() const { return metadata_string("namespace"); }
  std::string_view uid() const { return metadata_string("uid"); }
  std::string_view resource_version() const { return metadata_string("resourceVersion"); }
  /// The resourceVersion as a number, 0 if it is none.
  std::uint64_t version_number() const { return kube::version_number(resource_version()); }
  std::string_view creation_timestamp() const { return metadata_string("creationTimestamp"); }
  std::int64_t generation() const;
  ObjectKey key() const { return {std::string(ns()), std::string(name())}; }
  /// True once `metadata.deletionTimestamp` is set.
  bool is_deleting() const { return !metadata_string("deletionTimestamp").empty(); }

  std::string_view label(std::string_view key) const { return string_at(tree_, {"metadata", "labels", key}); }
  std::string_view annotation(std::string_view key) const { return string_at(tree_, {"metadata", "annotations", key}); }
  bool has_label(std::string_view key) const { return find(tree_, {"metadata", "labels", key}) != nullptr; }
  bool has_annotation(std::string_view key) const { return find(tree_, {"metadata", "annotations", key}) != nullptr; }
  const json::object& labels() const { return object_at(tree_, {"metadata", "labels"}); }
  const json::object& annotations() const { return object_at(tree_, {"metadata", "annotations"}); }
  bool has_finalizer(std::string_view finalizer) const;
  std::vector<OwnerReference> owner_references() const;
  /// The owner reference with `controller: true`, if any.
  std::optional<OwnerReference> controller() const;

  const json::object& spec() const { return object_at(tree_, {"spec"}); }
  const json::object& status() const { return object_at(tree_, {"status"}); }
  const json::object& metadata() const { return object_at(tree_, {"metadata"}); }
  json::object& mutable_metadata() { return ensure_object(tree_, "metadata"); }
  json::object& mutable_spec() { return ensure_object(tree_, "spec"); }
  json::object& mutable_status() { return ensure_object(tree_, "status"); }

  /// Sets apiVersion and kind: the elements of a list have neither.
  void set_kind(const Resource& resource);
  void set_label(std::string_view key, std::string_view value);
  /// Sets each label that is a string, and leaves the others as they are.
  void set_labels(const json::object& labels);
  void set_annotation(std::string_view key, std::string_view value);
  /// Adds it, or replaces the one that names the same UID: the server refuses an owner that is named twice.
  void add_owner_reference(const OwnerReference& owner);

  /// The document as JSON text.
  std::string text() const { return json::serialize(tree_); }

 private:
  std::string_view metadata_string(std::string_view key) const { return string_at(tree_, {"metadata", key}); }
  json::object tree_;
};

}  // namespace kube
