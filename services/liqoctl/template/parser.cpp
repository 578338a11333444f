#include "kube/base/scalar.hpp"
#include "template/lexer.hpp"
#include "template/syntax.hpp"

namespace liqoctl::chart {
namespace {

using kube::Errc;
using Kind = Token::Kind;

constexpr std::size_t max_text = std::size_t{1} << 20;
constexpr int max_nesting = 64;

/// The fields of ".a.b"; no value if it has two dots together or ends in one.
std::optional<std::vector<std::string>> fields_of(std::string_view chain) {
  std::vector<std::string> out;
  if (chain == ".") return out;
  while (!chain.empty()) {
    chain.remove_prefix(1);
    const std::size_t end = std::min(chain.find('.'), chain.size());
    if (end == 0) return std::nullopt;
    out.emplace_back(chain.substr(0, end));
    chain.remove_prefix(end);
  }
  return out;
}

class Parser {
 public:
  explicit Parser(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}

  kube::Result<Parsed> run() {
    if (!block(parsed_.body, 0)) return std::unexpected(std::move(*failure_));
    if (at_ < pieces_.size() && bad("there is nothing to end here")) return std::unexpected(std::move(*failure_));
    return std::move(parsed_);
  }

 private:
  /// Records the first failure, and returns false, for callers to return.
  bool refuse(Errc code, const std::string& what) {
    const std::size_t line = pieces_.empty() ? 1 : pieces_[std::min(at_, pieces_.size() - 1)].line;
    if (!failure_) failure_ = kube::Failure(code, std::to_string(line) + ": " + what);
    return false;
  }
  bool bad(const std::string& what) {
    refuse(Errc::parse, what);
    return true;
  }

  std::string word(std::size_t index = 0) const {
    const auto& tokens = pieces_[at_].tokens;
    return index < tokens.size() && tokens[index].kind == Kind::word ? tokens[index].text : "";
  }

  /// Reads up to `else` or `end`, which it does not consume, or to the end of the file.
  bool block(Block& into, int depth) {
    if (depth > max_nesting) return refuse(Errc::too_large, "blocks are nested too deep");
    for (; at_ < pieces_.size(); ++at_) {
      const Piece& piece = pieces_[at_];
      if (!piece.is_action) {
        into.push_back({.text = piece.text});
        continue;
      }
      const std::string first = word();
      if (first == "else" || first == "end") return true;
      if (first == "define") {
        if (depth > 0 || piece.tokens.size() != 2 || piece.tokens[1].kind != Kind::string)
          return refuse(Errc::parse, "define takes a name, outside of everything");
        Block body;
        const std::string name = piece.tokens[1].text;
        ++at_;
        if (!block(body, depth + 1) || !end()) return false;
        if (!parsed_.defined.emplace(name, std::move(body)).second)
          return refuse(Errc::parse, "template " + name + " is defined twice");
        continue;
      }
      if (first == "template" || first == "block" || first == "break" || first == "continue")
        return refuse(Errc::unsupported, first + " is not known here");
      Node node{.kind = first == "if"      ? Node::Kind::condition
                        : first == "with"  ? Node::Kind::with
                        : first == "range" ? Node::Kind::range
                                           : Node::Kind::action};
      if (node.kind == Node::Kind::action) {
        if (!pipeline(piece.tokens, 0, node.pipeline)) return false;
      } else if (!branch(node, 1, depth)) {
        return false;
      }
      into.push_back(std::move(node));
    }
    return depth == 0 || refuse(Errc::parse, "a block has no end");
  }

  bool end() {
    if (at_ < pieces_.size() && word() == "end" && pieces_[at_].tokens.size() == 1) return true;
    return refuse(Errc::parse, "a block does not end here as it should");
  }

  /// Reads an if, with or range up to its end. Its pipeline begins at token `from`.
  bool branch(Node& node, std::size_t from, int depth) {
    if (!pipeline(pieces_[at_].tokens, from, node.pipeline)) return false;
    ++at_;
    if (!block(node.body, depth + 1)) return false;
    if (at_ < pieces_.size() && word() == "else") {
      if (pieces_[at_].tokens.size() == 1) {
        ++at_;
        if (!block(node.otherwise, depth + 1)) return false;
      } else if (word(1) == "if" && node.kind == Node::Kind::condition) {
        if (depth > max_nesting) return refuse(Errc::too_large, "blocks are nested too deep");
        node.otherwise.push_back({.kind = Node::Kind::condition});
        return branch(node.otherwise.back(), 2, depth + 1);
      } else {
        return refuse(Errc::unsupported, "else is followed by something");
      }
    }
    return end();
  }

  bool pipeline(const std::vector<Token>& tokens, std::size_t from, Pipeline& into) {
    std::size_t at = from;
    if (!pipeline(tokens, at, into, 0)) return false;
    return at == tokens.size() || refuse(Errc::parse, "'" + tokens[at].text + "' is unexpected");
  }

  static bool is_mark(const std::vector<Token>& tokens, std::size_t index, std::string_view text) {
    return index < tokens.size() && tokens[index].kind == Kind::mark && tokens[index].text == text;
  }

  /// Reads from `at` up to a token that does not belong to it, e.g. a parenthesis.
  bool pipeline(const std::vector<Token>& tokens, std::size_t& at, Pipeline& into, int depth) {
    if (depth > max_nesting) return refuse(Errc::too_large, "parentheses are nested too deep");
    into.line = pieces_[at_].line;
    const auto is_variable = [&](std::size_t i) { return i < tokens.size() && tokens[i].kind == Kind::variable; };
    const std::size_t names = is_variable(at) && is_mark(tokens, at + 1, ",") && is_variable(at + 2) ? 3 : 1;
    if (is_variable(at) && (is_mark(tokens, at + names, ":=") || is_mark(tokens, at + names, "="))) {
      into.declares = is_mark(tokens, at + names, ":=");
      for (std::size_t i = at; i < at + names; i += 2) into.variables.push_back(tokens[i].text);
      at += names + 1;
    }
    while (true) {
      Call call;
      while (at < tokens.size() && (tokens[at].kind != Kind::mark || is_mark(tokens, at, "(")))
        if (!(is_mark(tokens, at, "(") ? parenthesis(tokens, at, call, depth) : operand(tokens, at, call)))
          return false;
      if (call.words.empty()) return refuse(Errc::parse, "a value is missing");
      into.calls.push_back(std::move(call));
      if (!is_mark(tokens, at, "|")) return true;
      ++at;
    }
  }

  bool parenthesis(const std::vector<Token>& tokens, std::size_t& at, Call& call, int depth) {
    Operand word{.kind = Operand::Kind::pipeline};
    auto inner = std::make_shared<Pipeline>();
    ++at;
    if (!pipeline(tokens, at, *inner, depth + 1)) return false;
    if (!is_mark(tokens, at, ")")) return refuse(Errc::parse, "a parenthesis is not closed");
    ++at;
    word.inner = std::move(inner);
    if (!fields_behind(tokens, at, word)) return false;
    call.words.push_back(std::move(word));
    return true;
  }

  /// Reads the fields that follow a variable or a parenthesis without a space, as in `$value.field`.
  bool fields_behind(const std::vector<Token>& tokens, std::size_t& at, Operand& word) {
    if (at >= tokens.size() || tokens[at].kind != Kind::field || tokens[at].spaced) return true;
    return chain(tokens[at++].text, word);
  }

  bool chain(const std::string& text, Operand& word) {
    auto fields = fields_of(text);
    if (!fields) return refuse(Errc::parse, "'" + text + "' is no field");
    word.path = std::move(*fields);
    return true;
  }

  bool operand(const std::vector<Token>& tokens, std::size_t& at, Call& call) {
    const Token& token = tokens[at++];
    Operand word;
    switch (token.kind) {
      case Kind::string:
        word.literal = token.text;
        break;
      case Kind::number: {
        const auto number = kube::read_number<std::int64_t>(token.text);
        if (!number) return refuse(Errc::unsupported, "'" + token.text + "' is no whole number");
        word.literal = *number;
        break;
      }
      case Kind::field:
        word.kind = Operand::Kind::dot;
        if (!chain(token.text, word)) return false;
        break;
      case Kind::variable:
        word.kind = Operand::Kind::variable;
        word.name = token.text;
        if (!fields_behind(tokens, at, word)) return false;
        break;
      case Kind::word:
        if (token.text == "true" || token.text == "false") {
          word.literal = token.text == "true";
        } else {
          word.kind = Operand::Kind::function;
          word.name = token.text;
        }
        break;
      case Kind::mark:
        return refuse(Errc::parse, "'" + token.text + "' is unexpected");
    }
    call.words.push_back(std::move(word));
    return true;
  }

  std::vector<Piece> pieces_;
  std::size_t at_ = 0;
  Parsed parsed_;
  std::optional<kube::Failure> failure_;
};

}  // namespace

kube::Result<Parsed> parse_template(std::string_view text) {
  if (text.size() > max_text) return kube::fail(Errc::too_large, "1: a template of more than 1 MiB");
  KUBE_TRY(pieces, split_template(text));
  return Parser(std::move(pieces)).run();
}

}  // namespace liqoctl::chart
