#include "model/install/differences.hpp"

#include <algorithm>
#include <set>

#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "model/install/secret_values.hpp"

namespace liqoctl::model {
namespace {

namespace json = kube::json;

/// The most bytes of a text that are shown, those of them before the first difference, and the most lines of an object.
constexpr std::size_t max_shown = 80, before_difference = 20, max_lines = 40;
constexpr std::string_view none = "(none)";

std::string joined(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

/// The part of the text that begins a little before `at`.
std::string part(std::string_view text, std::size_t at) {
  std::size_t begin = at > before_difference ? at - before_difference : 0;
  while (begin > 0 && begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) --begin;
  const std::string_view rest = text.substr(std::min(begin, text.size()));
  const std::string_view shown = kube::cut_text(rest, max_shown);
  return (begin > 0 ? "…" : "") + kube::printable(shown) + (shown.size() < rest.size() ? "…" : "");
}

std::size_t first_difference(std::string_view before, std::string_view after) {
  return static_cast<std::size_t>(std::ranges::mismatch(before, after).in1 - before.begin());
}

/// The line of that number, counted from 0.
std::string_view line_of(std::string_view text, std::size_t number) {
  for (; number > 0; --number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return none;
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

/// "old → new", of texts that differ.
std::string change(std::string_view before, std::string_view after) {
  std::size_t at = first_difference(before, after);
  std::string where;
  if (before.contains('\n') || after.contains('\n')) {
    auto number = static_cast<std::size_t>(std::ranges::count(before.substr(0, at), '\n'));
    // One of the texts ends at a line break of the other.
    if (line_of(before, number) == line_of(after, number)) ++number;
    where = "line " + std::to_string(number + 1) + ": ";
    before = line_of(before, number);
    after = line_of(after, number);
    at = first_difference(before, after);
  }
  if (before.size() <= max_shown && after.size() <= max_shown) at = 0;
  return where + part(before, at) + " → " + part(after, at);
}

json::value masked(const json::value& value) { return without_secrets(json::object{{"value", value}}).at("value"); }

std::string text_of(const json::value& value) {
  const json::value shown = masked(value);
  if (const auto* text = shown.if_string()) return text->empty() ? "\"\"" : std::string(*text);
  return json::serialize(shown);
}

/// The names of a list's entries; empty unless each has its own.
std::vector<std::string_view> names_in(const json::array& list) {
  std::vector<std::string_view> names;
  for (const json::value& item : list) {
    const std::string_view name = kube::string_at(item, {"name"});
    if (name.empty() || std::ranges::find(names, name) != names.end()) return {};
    names.push_back(name);
  }
  return names;
}

const json::value* named(const json::array& list, std::string_view name) {
  const auto found =
      std::ranges::find_if(list, [name](const json::value& item) { return kube::string_at(item, {"name"}) == name; });
  return found == list.end() ? nullptr : &*found;
}

class Comparison {
 public:
  explicit Comparison(bool hides_all = false) : hides_all_(hides_all) {}
  std::vector<std::string> lines;

  /// null = no value. `is_secret`: it belongs to the name of a credential.
  void compare(const std::string& path, const json::value* before, const json::value* after, bool is_secret = false) {
    if (before == after || (before && after && *before == *after)) return;
    const auto is_map = [](const json::value* one) { return !one || one->is_object(); };
    const auto is_empty = [](const json::value* one) { return !one || one->get_object().empty(); };
    if (is_map(before) && is_map(after) && !(is_empty(before) && is_empty(after)))
      compare_maps(path, before, after, is_secret);
    else if (hides_all_ || is_secret)
      lines.push_back(path + ": " + (!before ? "set" : !after ? "removed" : "changed") + " (not shown)");
    else if (before && after && before->is_array() && after->is_array())
      compare_lists(path, before->get_array(), after->get_array());
    else
      note(path, before, after);
  }

 private:
  void compare_maps(const std::string& path, const json::value* before, const json::value* after, bool is_secret) {
    static const json::object empty;
    const json::object& old = before ? before->get_object() : empty;
    const json::object& fresh = after ? after->get_object() : empty;
    const bool is_pair = has_secret_value(old) || has_secret_value(fresh);
    const auto hides = [&](std::string_view name) {
      return is_secret || names_secret(name) || (is_pair && name == "value");
    };
    for (const auto& [name, value] : old) compare(joined(path, name), &value, fresh.if_contains(name), hides(name));
    for (const auto& [name, value] : fresh)
      if (!old.contains(name)) compare(joined(path, name), nullptr, &value, hides(name));
  }

  void compare_lists(const std::string& path, const json::array& before, const json::array& after) {
    const auto old = names_in(before), fresh = names_in(after);
    if (old.size() == before.size() && fresh.size() == after.size() && !old.empty() && !fresh.empty()) {
      for (const std::string_view name : old)
        compare(path + "[" + std::string(name) + "]", named(before, name), named(after, name));
      for (const std::string_view name : fresh)
        if (!named(before, name)) compare(path + "[" + std::string(name) + "]", nullptr, named(after, name));
      return;
    }
    // What an entry may show depends on the one before it: "--token" hides the next.
    const json::value old_shown = masked(json::value(before)), fresh_shown = masked(json::value(after));
    std::vector<Entry> gone, made;
    std::multiset<std::string> left;
    for (const json::value& item : after) left.insert(json::serialize(item));
    for (std::size_t i = 0; i < before.size(); ++i)
      if (const auto same = left.find(json::serialize(before[i])); same != left.end())
        left.erase(same);
      else
        gone.push_back({&before[i], &old_shown.get_array()[i]});
    for (std::size_t i = 0; i < after.size(); ++i)
      if (const auto other = left.find(json::serialize(after[i])); other != left.end()) {
        left.erase(other);
        made.push_back({&after[i], &fresh_shown.get_array()[i]});
      }
    note_entries(path, gone, made);
  }

  /// An entry of a list, and the part of it that may be shown.
  struct Entry {
    const json::value *item, *shown;
  };

  /// Entries that are maps, or long, are compared with the entry in the same place. Others are removed or added.
  void note_entries(const std::string& path, const std::vector<Entry>& gone, const std::vector<Entry>& made) {
    if (gone.empty() && made.empty()) lines.push_back(path + ": in another order");
    const auto is_compared = [](const Entry& one) {
      return one.item->is_object() || text_of(*one.shown).size() > max_shown;
    };
    for (std::size_t i = 0; i < std::max(gone.size(), made.size()); ++i) {
      const Entry* before = i < gone.size() ? &gone[i] : nullptr;
      const Entry* after = i < made.size() ? &made[i] : nullptr;
      if (before && after && is_compared(*before) && is_compared(*after)) {
        if (before->item->is_string() || after->item->is_string())
          note(path + "[]", before->shown, after->shown);
        else
          compare(path + "[]", before->item, after->item);
        continue;
      }
      if (before) lines.push_back(path + ": - " + part(text_of(*before->shown), 0));
      if (after) lines.push_back(path + ": + " + part(text_of(*after->shown), 0));
    }
  }

  void note(const std::string& path, const json::value* before, const json::value* after) {
    const std::string old = before ? text_of(*before) : std::string(none);
    const std::string fresh = after ? text_of(*after) : std::string(none);
    if (old == fresh)
      lines.push_back(path + ": changed (not shown)");
    else
      lines.push_back(path + ": " + change(old, fresh));
  }

  bool hides_all_;
};

/// The object without the fields that only the API server writes.
json::value as_wished(const kube::Object& object) {
  json::object tree = object.tree();
  tree.erase("status");
  if (auto* metadata = tree.if_contains("metadata"); metadata && metadata->is_object())
    for (const char* noted : {"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp"})
      metadata->get_object().erase(noted);
  return tree;
}

}  // namespace

std::vector<std::string> differences(const json::value& before, const json::value& after) {
  Comparison comparison;
  comparison.compare("", &before, &after);
  return std::move(comparison.lines);
}

std::vector<std::string> differences(const kube::Object& before, const kube::Object& after) {
  json::value old = as_wished(before), fresh = as_wished(after);
  Comparison comparison;
  Comparison contents(true);
  if (after.kind() == kube::resources::secrets.kind)
    for (const char* content : {"data", "stringData"}) {
      contents.compare(content, old.get_object().if_contains(content), fresh.get_object().if_contains(content));
      old.get_object().erase(content);
      fresh.get_object().erase(content);
    }
  comparison.compare("", &old, &fresh);
  std::vector<std::string> lines = std::move(comparison.lines);
  lines.insert(lines.end(), contents.lines.begin(), contents.lines.end());
  return lines;
}

std::string in_lines(const std::vector<ObjectChange>& changes) {
  using Kind = ObjectChange::Kind;
  std::string out;
  for (const ObjectChange& one : changes) {
    out += (one.kind == Kind::added ? "+ " : one.kind == Kind::removed ? "- " : "~ ") + one.object + "\n";
    const std::size_t shown = std::min(one.fields.size(), max_lines);
    for (std::size_t i = 0; i < shown; ++i) out += "    " + one.fields[i] + "\n";
    if (shown < one.fields.size()) out += "    and " + std::to_string(one.fields.size() - shown) + " more\n";
  }
  return out;
}

std::string count_changes(const std::vector<ObjectChange>& changes) {
  std::vector<std::string> counts;
  for (const auto& [kind, word] :
       {std::pair{ObjectChange::Kind::added, "added"}, std::pair{ObjectChange::Kind::changed, "changed"},
        std::pair{ObjectChange::Kind::removed, "removed"}}) {
    const auto count = std::ranges::count(changes, kind, &ObjectChange::kind);
    if (count == 0) continue;
    const std::string objects = counts.empty() ? (count == 1 ? " object would be " : " objects would be ") : " ";
    counts.push_back(std::to_string(count) + objects + word);
  }
  return counts.empty() ? "nothing would change" : kube::join(counts, ", ");
}

}  // namespace liqoctl::model
