#include "model/install/secret_values.hpp"

#include <algorithm>
#include <array>

#include "kube/base/text.hpp"

namespace liqoctl::model {
namespace {

namespace json = kube::json;

/// Words in lower case, without separators.
constexpr std::array<std::string_view, 11> words{"password",   "passwd",       "passphrase",  "token",
                                                 "credential", "privatekey",   "apikey",      "accesskey",
                                                 "secretkey",  "clientsecret", "dockerconfig"};

void hide(json::value& value, bool is_secret);

void hide_in_list(json::array& list, bool is_secret) {
  bool is_next = false;
  for (json::value& item : list) {
    hide(item, is_secret || is_next);
    const auto* text = item.if_string();
    const std::string_view word = text ? std::string_view(*text) : std::string_view();
    is_next = word.starts_with("-") && !word.contains('=') && names_secret(word);
  }
}

void hide(json::value& value, bool is_secret) {
  if (auto* object = value.if_object()) {
    const bool is_pair = has_secret_value(*object);
    for (auto& [name, inner] : *object) hide(inner, is_secret || names_secret(name) || (is_pair && name == "value"));
  } else if (auto* list = value.if_array()) {
    hide_in_list(*list, is_secret);
  } else if (const auto* text = value.if_string(); text && !text->empty()) {
    value = is_secret ? std::string(not_shown) : without_secret(*text);
  } else if (is_secret && value.is_number()) {
    value = not_shown;
  }
}

std::string find_in(const json::value& value, const std::string& path) {
  if (const auto* object = value.if_object()) {
    for (const auto& [name, inner] : *object)
      if (auto found = find_in(inner, (path.empty() ? "" : path + ".") + std::string(name)); !found.empty())
        return found;
  } else if (const auto* list = value.if_array()) {
    for (const json::value& item : *list)
      if (auto found = find_in(item, path); !found.empty()) return found;
  } else if (const auto* text = value.if_string(); text && std::string_view(*text).contains(not_shown)) {
    return path;
  }
  return {};
}

}  // namespace

bool names_secret(std::string_view name) {
  std::string plain = kube::lower_case(name);
  std::erase_if(plain, [](char each) { return each == '-' || each == '_' || each == '.'; });
  return plain == "ca" || plain == "caoverride" ||
         (plain != "secretkeyref" &&
          std::ranges::any_of(words, [&plain](std::string_view word) { return plain.contains(word); }));
}

bool has_secret_value(const json::object& pair) { return names_secret(kube::string_at(pair, {"name"})); }

std::string without_secret(std::string_view text) {
  // "-----BEGIN", also in base64.
  if (text.contains("-----BEGIN") || text.contains("LS0tLS1CRUdJTi")) {
    const std::size_t at =
        text.starts_with("--") && !text.starts_with("-----") ? text.find('=') : std::string_view::npos;
    return std::string(at == std::string_view::npos ? "" : text.substr(0, at + 1)) + std::string(not_shown);
  }
  const std::size_t at = text.find('=');
  if (at == std::string_view::npos || !text.starts_with('-') || !names_secret(text.substr(0, at)))
    return std::string(text);
  return std::string(text.substr(0, at + 1)) + std::string(not_shown);
}

json::object without_secrets(json::object values) {
  json::value root = std::move(values);
  hide(root, false);
  return std::move(root.get_object());
}

std::string find_not_shown(const json::object& values) { return find_in(json::value(values), ""); }

}  // namespace liqoctl::model
