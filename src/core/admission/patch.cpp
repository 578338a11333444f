#include "core/admission/patch.hpp"

namespace liqo::core::admission {
namespace {

json::object operation(std::string_view op, std::string_view path) {
  json::object made;
  made["op"] = op;
  made["path"] = path;
  return made;
}

json::object operation(std::string_view op, std::string_view path, json::value value) {
  json::object made = operation(op, path);
  made["value"] = std::move(value);
  return made;
}

}  // namespace

std::string pointer(std::initializer_list<std::string_view> keys) {
  std::string text;
  for (std::string_view key : keys) {
    text += '/';
    for (char c : key) {
      if (c == '~')
        text += "~0";
      else if (c == '/')
        text += "~1";
      else
        text += c;
    }
  }
  return text;
}

void set_label(json::array& patch, const kube::Object& object, std::string_view key, std::string_view value) {
  const json::value* labels = kube::find(object.tree(), {"metadata", "labels"});
  if (!labels || !labels->is_object()) {
    if (!kube::find(object.tree(), {"metadata"})) patch.push_back(operation("add", "/metadata", json::object()));
    json::object made;
    made[key] = value;
    patch.push_back(operation("add", "/metadata/labels", std::move(made)));
    return;
  }
  if (object.has_label(key) && object.label(key) == value) return;
  // In a JSON patch "add" replaces a value that is there.
  patch.push_back(operation("add", pointer({"metadata", "labels", key}), json::string(value)));
}

void set_spec_field(json::array& patch, const kube::Object& object, std::string_view field, json::value value) {
  const json::value* spec = kube::find(object.tree(), {"spec"});
  if (!spec || !spec->is_object()) {
    json::object made;
    made[field] = std::move(value);
    patch.push_back(operation("add", "/spec", std::move(made)));
    return;
  }
  patch.push_back(operation("add", pointer({"spec", field}), std::move(value)));
}

}  // namespace liqo::core::admission
