// Any text as a template of the chart, and as --set and values: whatever comes, it ends, within bounds, with a text or
// a failure that says where.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kube/base/json.hpp"
#include "template/engine.hpp"
#include "template/values.hpp"

namespace {

using namespace liqoctl;
namespace json = kube::json;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Patterns are the chart's own; the engine that matches them is not made for others.
  if (size > 4096 || text.contains("regexMatch")) return 0;
  const std::array files{
      chart::File{"templates/_helpers.tpl", R"({{ define "own" }}{{ with . }}{{ . }}{{ end }}{{ end }})"},
      chart::File{"templates/object.yaml", text}};
  static const json::object values =
      json::parse(R"({"on": true, "text": "a", "number": 1.5, "list": ["a", "b"], "map": {"a": "b"}, "nothing": null})")
          .as_object();
  if (const auto engine = chart::Engine::read(files)) {
    const auto made = engine->render("templates/object.yaml", {{"Values", values}});
    if (made && made->size() > (std::size_t{16} << 20)) std::abort();
    if (!made && made.error().text().empty()) std::abort();
  } else if (!engine.error().text().starts_with("templates/object.yaml:")) {
    std::abort();
  }
  json::object set;
  if (chart::set_value(set, text)) chart::with_defaults(std::move(set), values);
  return 0;
}
