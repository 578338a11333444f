#include "text/path.hpp"

#include <vector>

#include "kube/base/scalar.hpp"
#include "kube/base/text.hpp"

namespace liqoctl::text {
namespace {

namespace json = kube::json;

std::vector<std::string> parts(std::string_view path) {
  std::vector<std::string> found;
  std::string part;
  const auto end = [&] {
    if (!part.empty()) found.push_back(std::exchange(part, {}));
  };
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '.') {
      end();
    } else if (path[i] == '[') {
      end();
      const std::size_t close = std::min(path.find(']', i), path.size());
      part = path.substr(i + 1, close - i - 1);
      end();
      i = close;
    } else {
      part += path[i];
    }
  }
  end();
  return found;
}

const json::value* step(const json::value& at, std::string_view part) {
  if (const auto* object = at.if_object()) {
    const std::string wanted = kube::lower_case(part);
    for (const auto& [key, value] : *object)
      if (kube::lower_case(key) == wanted) return &value;
  } else if (const auto* list = at.if_array()) {
    if (const auto index = kube::read_number<std::size_t>(part); index && *index < list->size())
      return &(*list)[*index];
    for (const json::value& item : *list)
      if (kube::string_at(item, {"name"}) == part) return &item;
  }
  return nullptr;
}

/// The names by which step() finds the children of a value.
std::vector<std::string_view> names_below(const json::value& at) {
  std::vector<std::string_view> names;
  if (const auto* object = at.if_object()) {
    for (const auto& [key, value] : *object) names.push_back(key);
  } else if (const auto* list = at.if_array()) {
    for (const json::value& item : *list)
      if (const std::string_view name = kube::string_at(item, {"name"}); !name.empty()) names.push_back(name);
  }
  return names;
}

}  // namespace

kube::Result<json::value> pick(const json::value& root, std::string_view path) {
  const json::value* at = &root;
  std::string done;
  for (const std::string& part : parts(path)) {
    const json::value* next = step(*at, part);
    if (!next) {
      const std::string there = kube::join(names_below(*at), ", ");
      return kube::fail(kube::Errc::missing, "there is no '" + part + "'" + (done.empty() ? "" : " in '" + done + "'") +
                                                 (there.empty() ? "" : "; there is " + there));
    }
    done += (done.empty() ? "" : ".") + part;
    at = next;
  }
  return *at;
}

}  // namespace liqoctl::text
