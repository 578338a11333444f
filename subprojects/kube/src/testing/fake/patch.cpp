#include "patch.hpp"

#include "kube/base/scalar.hpp"

namespace kube::testing {

void merge_patch(json::value& target, const json::value& patch) {
  const json::object* changes = patch.if_object();
  if (!changes) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = json::object();
  json::object& object = target.get_object();
  for (const auto& [key, value] : *changes) {
    if (value.is_null())
      object.erase(key);
    else
      merge_patch(object[key], value);
  }
}

namespace {

std::unexpected<Refusal> unprocessable(std::string message) {
  return std::unexpected(Refusal{422, "Invalid", std::move(message), {}});
}

/// One reference token of a JSON pointer (RFC 6901).
std::string unescape(std::string_view token) {
  std::string text;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1'))
      text += token[++i] == '0' ? '~' : '/';
    else
      text += token[i];
  }
  return text;
}

std::optional<std::size_t> index_of(std::string_view token, std::size_t size) {
  const auto index = read_number<std::size_t>(token);
  if (!index || *index >= size || (token.size() > 1 && token.front() == '0')) return std::nullopt;
  return index;
}

/// The container that holds the last token of a pointer, or nullptr.
json::value* parent_of(json::value& root, std::string_view pointer, std::string& last) {
  if (!pointer.starts_with('/')) return nullptr;
  pointer.remove_prefix(1);
  json::value* here = &root;
  while (true) {
    const std::size_t slash = pointer.find('/');
    const std::string token = unescape(pointer.substr(0, slash));
    if (slash == std::string_view::npos) {
      last = token;
      return here->is_structured() ? here : nullptr;
    }
    pointer.remove_prefix(slash + 1);
    if (json::object* object = here->if_object()) {
      here = object->if_contains(token);
    } else if (json::array* array = here->if_array()) {
      const auto index = index_of(token, array->size());
      here = index ? &(*array)[*index] : nullptr;
    } else {
      here = nullptr;
    }
    if (!here) return nullptr;
  }
}

json::value* value_at(json::value& root, std::string_view pointer) {
  if (pointer.empty()) return &root;
  std::string last;
  json::value* parent = parent_of(root, pointer, last);
  if (!parent) return nullptr;
  if (json::object* object = parent->if_object()) return object->if_contains(last);
  json::array& array = parent->get_array();
  const auto index = index_of(last, array.size());
  return index ? &array[*index] : nullptr;
}

Answer<> add(json::value& root, std::string_view pointer, json::value value) {
  if (pointer.empty()) {
    root = std::move(value);
    return {};
  }
  std::string last;
  json::value* parent = parent_of(root, pointer, last);
  if (!parent)
    return unprocessable("add operation does not apply: the path \"" + std::string(pointer) + "\" is missing");
  if (json::object* object = parent->if_object()) {
    (*object)[last] = std::move(value);
    return {};
  }
  json::array& array = parent->get_array();
  if (last == "-") {
    array.push_back(std::move(value));
    return {};
  }
  const auto index = index_of(last, array.size() + 1);
  if (!index) return unprocessable("add operation does not apply: no index \"" + last + "\"");
  array.insert(array.begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
  return {};
}

Answer<> remove(json::value& root, std::string_view pointer) {
  std::string last;
  json::value* parent = parent_of(root, pointer, last);
  if (parent && parent->is_object() && parent->get_object().erase(last) > 0) return {};
  if (parent && parent->is_array()) {
    json::array& array = parent->get_array();
    if (const auto index = index_of(last, array.size())) {
      array.erase(array.begin() + static_cast<std::ptrdiff_t>(*index));
      return {};
    }
  }
  return unprocessable("remove operation does not apply: the path \"" + std::string(pointer) + "\" is missing");
}

Answer<> step(json::value& root, const json::object& operation) {
  const std::string_view op = string_at(operation, {"op"});
  const std::string_view path = string_at(operation, {"path"});
  const json::value* value = operation.if_contains("value");
  if (op == "add" || op == "replace" || op == "test") {
    if (!value) return refuse::bad_request("operation " + std::string(op) + " without a value");
    if (op == "add") return add(root, path, *value);
    json::value* at = value_at(root, path);
    if (op == "test") {
      // The library behind the real server takes a missing value for null.
      if (at ? *at == *value : value->is_null()) return {};
      return unprocessable("testing path \"" + std::string(path) + "\" failed");
    }
    if (!at)
      return unprocessable("replace operation does not apply: the path \"" + std::string(path) + "\" is missing");
    *at = *value;
    return {};
  }
  if (op == "remove") return remove(root, path);
  if (op == "move" || op == "copy") {
    const std::string_view from = string_at(operation, {"from"});
    const json::value* source = value_at(root, from);
    if (!source) return unprocessable("no value at \"" + std::string(from) + "\"");
    json::value moved = *source;
    if (op == "move") KUBE_TRYV(remove(root, from));
    return add(root, path, std::move(moved));
  }
  return refuse::bad_request("unknown operation of a JSON patch: \"" + std::string(op) + "\"");
}

}  // namespace

Answer<> json_patch(json::value& target, const json::value& patch) {
  const json::array* operations = patch.if_array();
  if (!operations) return refuse::bad_request("a JSON patch is an array of operations");
  for (const json::value& operation : *operations) {
    if (!operation.is_object()) return refuse::bad_request("an operation of a JSON patch is an object");
    KUBE_TRYV(step(target, operation.get_object()));
  }
  return {};
}

}  // namespace kube::testing
