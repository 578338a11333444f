#include "model/names/corefile.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/common/home_names.hpp"
#include "core/common/names.hpp"
#include "core/offloading/daemon_sets.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"

namespace liqoctl::model {
namespace {

using kube::Errc;

constexpr std::string_view begin_mark = "# begin home-names (liqoctl enable home-names --undo takes these lines out)";
constexpr std::string_view end_mark = "# end home-names";
constexpr std::string_view usual_domain = "cluster.local";
constexpr std::string_view blanks = " \t\r";

/// A word of a Corefile, as CoreDNS splits it: `#` begins a comment wherever it stands, and quotes may hold anything.
struct Word {
  std::string text;
  std::size_t line_begin = 0, begin = 0;  ///< offsets
  bool is_first = false;                  ///< on its line
};

class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  /// Nothing at the end.
  std::optional<Word> next() {
    skip();
    if (at_ >= text_.size()) return std::nullopt;
    Word word{.text = {}, .line_begin = line_begin_, .begin = at_, .is_first = is_first_};
    is_first_ = false;
    word.text = text_[at_] == '"' ? quoted() : plain();
    return word;
  }

 private:
  void skip() {
    for (bool is_comment = false; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        line_begin_ = at_ + 1;
        is_first_ = true;
        is_comment = false;
      } else if (c == '#') {
        is_comment = true;
      } else if (!is_comment && !blanks.contains(c)) {
        return;
      }
    }
  }
  std::string plain() {
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_of(" \t\r\n#", at_), text_.size());
    return std::string(text_.substr(begin, at_ - begin));
  }
  std::string quoted() {
    std::string word;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && text_.substr(at_ + 1).starts_with('"')) ++at_;
      word += text_[at_];
    }
    ++at_;
    return word;
  }

  std::string_view text_;
  std::size_t at_ = 0, line_begin_ = 0;
  bool is_first_ = true;
};

/// A server block.
struct Block {
  std::vector<std::string> addresses;
  std::vector<std::string> zones;         ///< of the plugin kubernetes
  std::optional<std::size_t> line_begin;  ///< of that plugin
  std::string indent;                     ///< in front of it
  bool is_alone = true;                   ///< nothing else is before it on its line
  int kubernetes = 0;                     ///< how often the plugin is there
  bool reloads = false;
};

struct Blocks {
  std::vector<Block> all;
  bool imports = false;
  bool is_whole = true;  ///< every brace is closed
};

/// Takes a word inside of a block, at depth 1.
void take(Block& block, const Word& word, std::string_view text, std::string& plugin) {
  if (word.is_first || plugin.empty()) {
    plugin = word.text;
    if (plugin == "reload") block.reloads = true;
    if (plugin != "kubernetes") return;
    ++block.kubernetes;
    block.line_begin = word.line_begin;
    block.indent = text.substr(word.line_begin, word.begin - word.line_begin);
    block.is_alone = block.indent.find_first_not_of(" \t") == std::string::npos;
  } else if (plugin == "kubernetes") {
    block.zones.push_back(word.text);
  }
}

Blocks read_blocks(std::string_view text) {
  Blocks blocks;
  Block block;
  std::string plugin;
  int depth = 0;
  Words words(text);
  while (const auto word = words.next()) {
    if (word->is_first && word->text == "import") blocks.imports = true;
    if (word->text == "{") {
      if (++depth == 1) plugin.clear();
    } else if (word->text == "}") {
      if (--depth < 0) break;
      if (depth == 0) blocks.all.push_back(std::exchange(block, {}));
    } else if (depth == 0) {
      block.addresses.push_back(word->text);
    } else if (depth == 1) {
      take(block, *word, text, plugin);
    }
  }
  blocks.is_whole = depth == 0 && block.addresses.empty();
  return blocks;
}

/// Whether the server block is asked for all names: `.`, `.:53`, `dns://.:53` or `:53`.
bool serves_all(const Block& block) {
  return std::ranges::any_of(block.addresses, [](std::string_view address) {
    if (address.ends_with(',')) address.remove_suffix(1);
    if (address.starts_with("dns://")) address.remove_prefix(6);
    const std::string_view zone = address.substr(0, address.find(':'));
    return zone == "." || (zone.empty() && !address.empty());
  });
}

std::string domain_of(const Block& block) {
  for (std::string_view zone : block.zones) {
    if (zone.ends_with('.')) zone.remove_suffix(1);
    if (zone.ends_with("in-addr.arpa") || zone.ends_with("ip6.arpa")) continue;
    return liqo::core::is_dns_subdomain(zone) ? std::string(zone) : "";
  }
  return {};
}

std::unexpected<kube::Failure> refuse(std::string why) {
  return kube::fail(Errc::invalid_input,
                    std::move(why) +
                        ": nothing is changed; \"liqoctl enable home-names --print\" prints the lines for "
                        "whoever manages CoreDNS here");
}

/// The server block for the lines.
kube::Result<Block> find_block(std::string_view corefile) {
  const Blocks blocks = read_blocks(corefile);
  if (blocks.imports) return refuse("the Corefile imports other files or parts, so somebody else manages it");
  if (!blocks.is_whole) return refuse("the Corefile cannot be read: it has text outside of server blocks");
  std::vector<Block> fitting;
  bool has_plugin = false;
  for (const Block& block : blocks.all) {
    has_plugin = has_plugin || block.kubernetes > 0;
    if (block.kubernetes > 0 && serves_all(block)) fitting.push_back(block);
  }
  if (!has_plugin) return refuse("no server block of the Corefile has the plugin kubernetes");
  if (fitting.empty()) return refuse("the server block with the plugin kubernetes is not the one for all names (.:53)");
  if (fitting.size() > 1 || fitting.front().kubernetes > 1)
    return refuse("the Corefile has the plugin kubernetes more than once");
  if (!fitting.front().is_alone) return refuse("the plugin kubernetes does not stand on a line of its own");
  return std::move(fitting.front());
}

/// A line and where it is, its end included.
struct Line {
  std::size_t begin = 0, end = 0;
};

std::vector<Line> lines_with(std::string_view text, std::string_view mark) {
  std::vector<Line> found;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    if (kube::trim(text.substr(begin, end - begin), " \t\r\n") == mark) found.push_back({begin, end});
    begin = end;
  }
  return found;
}

std::string escaped(std::string_view domain) {
  std::string pattern;
  for (const char c : domain) pattern += c == '.' ? "\\." : std::string(1, c);
  return pattern;
}

}  // namespace

std::string home_names_lines(std::string_view domain, std::string_view indent) {
  const std::string zone(liqo::core::home_zone), under(domain);
  // Pods write the domain of their home, which is mostly the usual one, or what they read in their own resolv.conf.
  std::string domains = escaped(usual_domain);
  if (domain != usual_domain) domains += "|" + escaped(domain);
  const std::string label = R"(([a-z0-9-]+))";
  const std::string end = R"((?:\.(?:)" + domains + R"())?\.)" + label + R"(\.)" + escaped(zone) + R"(\.$)";
  const std::string rules[] = {
      std::string(begin_mark),
      "rewrite name exact " + std::string(liqo::core::home_probe) + " kubernetes.default.svc." + under,
      // A Service, one of its pods before it, or port and protocol.
      R"(rewrite name regex ^((?:[^.]+\.){1,3}))" + label + R"(\.svc)" + end + " {1}{2}-{3}.svc." + under +
          ". answer auto",
      R"(rewrite name regex ^([0-9a-f-]+)\.)" + label + R"(\.pod)" + end + " {1}.{2}-{3}.pod." + under +
          ". answer auto",
      // No Service or pod has such a name.
      "rewrite name suffix ." + zone + ". .none." + under + ".",
      std::string(end_mark),
  };
  std::string lines;
  for (const std::string& rule : rules) lines += std::string(indent) + rule + "\n";
  return lines;
}

kube::Result<ChangedCorefile> without_home_names(std::string_view corefile) {
  const std::vector<Line> begins = lines_with(corefile, begin_mark), ends = lines_with(corefile, end_mark);
  if (begins.empty() && ends.empty()) return ChangedCorefile{.text = std::string(corefile), .domain = {}};
  if (begins.size() != 1 || ends.size() != 1 || ends.front().begin < begins.front().begin)
    return kube::fail(
        Errc::invalid_input,
        "the lines of home-names in the Corefile are not whole: remove what is left of them by hand, from "
        "\"" +
            std::string(begin_mark) + "\" to \"" + std::string(end_mark) + "\"");
  std::string text(corefile.substr(0, begins.front().begin));
  text += corefile.substr(ends.front().end);
  const Blocks blocks = read_blocks(text);
  return ChangedCorefile{.text = std::move(text),
                         .domain = {},
                         .reloads = std::ranges::any_of(blocks.all, [](const Block& block) { return block.reloads; })};
}

kube::Result<ChangedCorefile> with_home_names(std::string_view corefile) {
  KUBE_TRY(bare, without_home_names(corefile));
  KUBE_TRY(block, find_block(bare.text));
  std::string domain = domain_of(block);
  if (domain.empty()) return refuse("the plugin kubernetes names no domain of the cluster that can be read");
  std::string text = bare.text;
  text.insert(*block.line_begin, home_names_lines(domain, block.indent));
  return ChangedCorefile{.text = std::move(text), .domain = std::move(domain), .reloads = block.reloads};
}

std::string who_keeps_corefile(const kube::Object& config_map) {
  if (std::string keeper = liqo::core::who_keeps(config_map); !keeper.empty()) return keeper;
  if (config_map.label("app.kubernetes.io/managed-by") == "Helm") return "Helm keeps it";
  if (config_map.has_label("argocd.argoproj.io/instance") ||
      config_map.has_annotation("argocd.argoproj.io/tracking-id"))
    return "Argo CD keeps it";
  if (config_map.has_label("kustomize.toolkit.fluxcd.io/name") || config_map.has_label("helm.toolkit.fluxcd.io/name"))
    return "Flux keeps it";
  return {};
}

std::string changed_lines(std::string_view before, std::string_view after) {
  std::vector<std::string_view> old_lines = kube::split(before, '\n'), new_lines = kube::split(after, '\n');
  const auto same = [&] { return !old_lines.empty() && !new_lines.empty(); };
  while (same() && old_lines.back() == new_lines.back()) {
    old_lines.pop_back();
    new_lines.pop_back();
  }
  std::size_t first = 0;
  while (first < old_lines.size() && first < new_lines.size() && old_lines[first] == new_lines[first]) ++first;
  std::string text;
  for (std::size_t i = first; i < old_lines.size(); ++i) text += "- " + kube::printable(old_lines[i]) + "\n";
  for (std::size_t i = first; i < new_lines.size(); ++i) text += "+ " + kube::printable(new_lines[i]) + "\n";
  return text;
}

}  // namespace liqoctl::model
