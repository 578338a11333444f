#include "text/yaml.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <vector>

#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "text/width.hpp"

namespace liqoctl::text {
namespace {

namespace json = kube::json;

/// A scalar that is no string. Fractions are written as people write them: 0.5 and not 5E-1.
std::string plain_scalar(const json::value& value) {
  const double* number = value.if_double();
  if (!number) return json::serialize(value);
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, *number).ptr};
}

/// Whether a YAML reader would take the text for something other than a string.
bool reads_as_other(std::string_view text) {
  static const std::set<std::string, std::less<>> words{"null", "~",   "true", "false", "yes", "no",
                                                        "on",   "off", "y",    "n",     ".nan"};
  const std::string lower = kube::lower_case(text);
  if (words.contains(lower)) return true;
  // True for anything that begins as a number: integers, floats, times, versions, base-60. Not for quantities with a
  // suffix.
  if (!text.empty() && text.find_first_not_of("0123456789+-.:_eExXoabcdfABCDFTZ") == std::string_view::npos &&
      text.find_first_of("0123456789") != std::string_view::npos &&
      std::string_view("0123456789+-.").contains(text.front()))
    return true;
  return lower == ".inf" || lower == "-.inf" || lower == "+.inf";
}

bool is_plain(std::string_view text) {
  if (text.empty() || reads_as_other(text)) return false;
  if (std::string_view("-?:,[]{}#&*!|>'\"%@`= ").contains(text.front())) return false;
  if (text.back() == ' ' || text.back() == ':') return false;
  if (text.contains(": ") || text.contains(" #")) return false;
  return !kube::acts_on_terminals(text);
}

bool fits_literal_block(std::string_view text) {
  if (!text.contains('\n') || text.front() == ' ' || text.front() == '\n') return false;
  if (text.contains(" \n") || text.back() == ' ') return false;
  if (text.size() > 1 && text.ends_with("\n\n")) return false;
  std::string lines(text);
  std::ranges::replace(lines, '\n', ' ');
  return !kube::acts_on_terminals(lines);
}

class Writer {
 public:
  std::string out;

  /// Writes what follows "key:" or "-": a scalar on the same line, anything else below.
  void value(const json::value& value, std::size_t indent, bool in_list) {
    if (const auto* object = value.if_object(); object && !object->empty()) {
      if (!in_list) out += "\n";
      mapping(*object, indent, in_list);
    } else if (const auto* list = value.if_array(); list && !list->empty()) {
      out += "\n";
      sequence(*list, indent - (in_list ? 0 : 2));
    } else {
      if (!in_list) out += " ";
      scalar(value, indent);
    }
  }

  void mapping(const json::object& object, std::size_t indent, bool first_inline) {
    std::vector<const json::key_value_pair*> entries;
    for (const auto& entry : object) entries.push_back(&entry);
    std::sort(entries.begin(), entries.end(), [](auto* left, auto* right) { return left->key() < right->key(); });
    for (const auto* entry : entries) {
      if (!std::exchange(first_inline, false)) out.append(indent, ' ');
      string(entry->key());
      out += ":";
      value(entry->value(), indent + 2, false);
    }
  }

  void sequence(const json::array& list, std::size_t indent) {
    for (const json::value& item : list) {
      out.append(indent, ' ');
      out += "- ";
      if (const auto* inner = item.if_array(); inner && !inner->empty()) {
        out.pop_back();
        out += "\n";
        sequence(*inner, indent + 2);
      } else {
        value(item, indent + 2, true);
      }
    }
  }

  void scalar(const json::value& value, std::size_t indent) {
    const auto* text = value.if_string();
    if (text && fits_literal_block(*text)) {
      block(*text, indent);
      return;
    }
    if (text) {
      string(*text);
    } else {
      out += plain_scalar(value);
    }
    out += "\n";
  }

 private:
  void string(std::string_view text) {
    out += is_plain(text) ? std::string(text) : in_double_quotes(text, Quotes::yaml);
  }

  void block(std::string_view text, std::size_t indent) {
    out += text.ends_with('\n') ? "|\n" : "|-\n";
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      if (end > 0) out.append(indent, ' ');
      out += std::string(text.substr(0, end)) + "\n";
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
};

void pretty(const json::value& value, std::size_t indent, std::string& out) {
  const std::string inner(indent + 2, ' ');
  if (const auto* object = value.if_object(); object && !object->empty()) {
    out += "{\n";
    bool first = true;
    for (const auto& [key, item] : *object) {
      if (!std::exchange(first, false)) out += ",\n";
      out += inner + in_double_quotes(key, Quotes::json) + ": ";
      pretty(item, indent + 2, out);
    }
    out += "\n" + std::string(indent, ' ') + "}";
  } else if (const auto* list = value.if_array(); list && !list->empty()) {
    out += "[\n";
    bool first = true;
    for (const json::value& item : *list) {
      if (!std::exchange(first, false)) out += ",\n";
      out += inner;
      pretty(item, indent + 2, out);
    }
    out += "\n" + std::string(indent, ' ') + "]";
  } else if (const auto* text = value.if_string()) {
    out += in_double_quotes(*text, Quotes::json);
  } else {
    out += plain_scalar(value);
  }
}

}  // namespace

std::string yaml(const json::value& value) {
  Writer writer;
  if (const auto* object = value.if_object(); object && !object->empty()) {
    writer.mapping(*object, 0, false);
  } else if (const auto* list = value.if_array(); list && !list->empty()) {
    writer.sequence(*list, 0);
  } else {
    writer.scalar(value, 0);
  }
  return writer.out;
}

std::string pretty_json(const json::value& value) {
  std::string out;
  pretty(value, 0, out);
  return out + "\n";
}

}  // namespace liqoctl::text
