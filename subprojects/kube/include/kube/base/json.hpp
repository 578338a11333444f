// Walking foreign JSON without surprises: look-ups that return "absent" instead of throwing, and bounded parsing.
#pragma once

#include <boost/json.hpp>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/failure.hpp"

namespace kube {

namespace json = boost::json;

/// The value at a path of object keys, or nullptr if a step is missing or not an object.
const json::value* find(const json::value& root, std::initializer_list<std::string_view> path);
const json::value* find(const json::object& root, std::initializer_list<std::string_view> path);

/// The string at the path, or "" if there is none. The view lives as long as the tree is unchanged.
std::string_view string_at(const json::value& root, std::initializer_list<std::string_view> path);
std::string_view string_at(const json::object& root, std::initializer_list<std::string_view> path);
/// The integer at the path, or the fallback.
std::int64_t int_at(const json::value& root, std::initializer_list<std::string_view> path, std::int64_t fallback = 0);
std::int64_t int_at(const json::object& root, std::initializer_list<std::string_view> path, std::int64_t fallback = 0);
/// The boolean at the path, or the fallback.
bool bool_at(const json::value& root, std::initializer_list<std::string_view> path, bool fallback = false);
bool bool_at(const json::object& root, std::initializer_list<std::string_view> path, bool fallback = false);
/// The object at the path, or an empty one.
const json::object& object_at(const json::value& root, std::initializer_list<std::string_view> path);
const json::object& object_at(const json::object& root, std::initializer_list<std::string_view> path);
/// The array at the path, or an empty one.
const json::array& array_at(const json::value& root, std::initializer_list<std::string_view> path);
const json::array& array_at(const json::object& root, std::initializer_list<std::string_view> path);

/// The strings among the entries of a list.
std::vector<std::string> strings_in(const json::array& list);
/// The strings of a list that may have no other entries; nullopt for any other value.
std::optional<std::vector<std::string>> read_strings(const json::value& list);

/// The object under `key`; if there is none yet, an empty one is put there. If the key exists, nothing in `parent`
/// moves.
json::object& ensure_object(json::object& parent, std::string_view key);
/// The list under `key`; if there is none yet, an empty one is put there. If the key exists, nothing in `parent` moves.
json::array& ensure_array(json::object& parent, std::string_view key);

/// Trees are walked by recursion, so what is nested deeper than this is not read. Kubernetes' own kinds and their
/// schemas stay below 64; what a custom resource without a schema holds may be anything.
inline constexpr std::size_t max_object_depth = 256;
/// The most bytes of text of one object that are taken from a server: etcd stores 1.5 MiB at most, and an escaped
/// character takes six bytes.
inline constexpr std::size_t max_object_bytes = 10u << 20;

/// Parses one JSON document of at most `max_depth` levels. Errors: Errc::parse, with the offset.
Result<json::value> parse_json(std::string_view text, std::size_t max_depth = max_object_depth);

}  // namespace kube
