#include "template/lexer.hpp"

#include <algorithm>
#include <cctype>

namespace liqoctl::chart {
namespace {

using kube::Errc;

constexpr std::string_view blanks = " \t\r\n";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) {}

  kube::Result<std::vector<Piece>> run() {
    bool trim = false;
    while (true) {
      const std::size_t start = rest_.find("{{");
      std::string_view plain = rest_.substr(0, start);
      const std::size_t line = line_;
      advance(plain.size());
      if (trim) plain.remove_prefix(std::min(plain.find_first_not_of(blanks), plain.size()));
      const bool trims_before = rest_.starts_with("{{-") && rest_.size() > 3 && blanks.contains(rest_[3]);
      if (trims_before) plain = plain.substr(0, plain.find_last_not_of(blanks) + 1);
      if (!plain.empty()) pieces_.push_back({.line = line, .text = std::string(plain)});
      if (rest_.empty()) return std::move(pieces_);
      advance(trims_before ? 3 : 2);
      if (auto read = rest_.find_first_not_of(blanks); rest_.substr(std::min(read, rest_.size())).starts_with("/*")) {
        const std::size_t end = rest_.find("*/");
        if (end == std::string_view::npos) return bad("a comment has no end");
        advance(end + 2);
        if (!close(trim)) return bad("a comment is followed by something");
        continue;
      }
      KUBE_TRYV(action(trim));
    }
  }

 private:
  std::unexpected<kube::Failure> bad(const std::string& what) const {
    return kube::fail(Errc::parse, std::to_string(line_) + ": " + what);
  }

  void advance(std::size_t count) {
    line_ += std::size_t(std::ranges::count(rest_.substr(0, count), '\n'));
    rest_.remove_prefix(count);
  }

  /// Consumes the end of an action, if it is next.
  bool close(bool& trim) {
    const std::size_t blank = std::min(rest_.find_first_not_of(blanks), rest_.size());
    const std::string_view behind = rest_.substr(blank);
    trim = blank > 0 && behind.starts_with("-}}");
    if (!trim && !behind.starts_with("}}")) return false;
    advance(blank + (trim ? 3 : 2));
    return true;
  }

  kube::Result<void> action(bool& trim) {
    Piece piece{.is_action = true, .line = line_};
    while (!close(trim)) {
      const std::size_t blank = std::min(rest_.find_first_not_of(blanks), rest_.size());
      advance(blank);
      if (rest_.empty()) return bad("an action has no end");
      KUBE_TRY(token, next());
      token.spaced = blank > 0 || piece.tokens.empty();
      piece.tokens.push_back(std::move(token));
    }
    pieces_.push_back(std::move(piece));
    return {};
  }

  std::string take(std::size_t count) {
    std::string taken(rest_.substr(0, count));
    advance(count);
    return taken;
  }
  std::size_t end_of(auto matches) const {
    return std::size_t(std::ranges::find_if_not(rest_, matches) - rest_.begin());
  }

  kube::Result<Token> next() {
    const char first = rest_.front();
    if (first == '"' || first == '`') return string(first);
    if (first == '.') return Token{Token::Kind::field, take(end_of([](char c) { return is_word(c) || c == '.'; }))};
    if (first == '$') {
      advance(1);
      return Token{Token::Kind::variable, take(end_of(is_word))};
    }
    if (std::isdigit(static_cast<unsigned char>(first)) ||
        (first == '-' && rest_.size() > 1 && std::isdigit(static_cast<unsigned char>(rest_[1])))) {
      std::string sign = first == '-' ? take(1) : "";
      return Token{Token::Kind::number, sign + take(end_of([](char c) { return is_word(c) || c == '.'; }))};
    }
    if (is_word(first)) return Token{Token::Kind::word, take(end_of(is_word))};
    if (rest_.starts_with(":=")) return Token{Token::Kind::mark, take(2)};
    if (std::string_view("()|,=").contains(first)) return Token{Token::Kind::mark, take(1)};
    return bad("'" + std::string(1, first) + "' has no meaning here");
  }

  kube::Result<Token> string(char quote) {
    advance(1);
    Token token{Token::Kind::string, ""};
    while (!rest_.empty() && rest_.front() != quote) {
      if (quote == '"' && rest_.front() == '\n') break;
      std::string part = take(1);
      if (quote == '"' && part == "\\") {
        part = rest_.empty() ? "" : take(1);
        if (part == "n")
          part = "\n";
        else if (part == "t")
          part = "\t";
        else if (part != "\"" && part != "\\")
          return bad("'\\" + part + "' is no escape of a string");
      }
      token.text += part;
    }
    if (rest_.empty() || rest_.front() != quote) return bad("a string has no end");
    advance(1);
    return token;
  }

  std::string_view rest_;
  std::size_t line_ = 1;
  std::vector<Piece> pieces_;
};

}  // namespace

kube::Result<std::vector<Piece>> split_template(std::string_view text) { return Lexer(text).run(); }

}  // namespace liqoctl::chart
