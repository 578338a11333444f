// Parsing JSON by Boost.JSON's parser into its trees, with numbers that keep every bit.
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>

#include "arena.hpp"
#include "kube/base/json_arena.hpp"

namespace kube {
namespace {

using boost::system::error_code;

/// Makes the tree as json::parser does, except for floating-point numbers. Boost reads one in ten of them wrong by a
/// bit, and makes those that are too large infinite, which cannot be written again.
class TreeBuilder {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  TreeBuilder(json::storage_ptr scratch_memory, unsigned char* scratch, std::size_t size)
      : values_(std::move(scratch_memory), scratch, size) {}
  void begin(json::storage_ptr storage) { values_.reset(std::move(storage)); }
  json::value take() { return values_.release(); }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return true; }
  bool on_object_end(std::size_t fields, error_code&) {
    values_.push_object(fields);
    return true;
  }
  bool on_array_begin(error_code&) { return true; }
  bool on_array_end(std::size_t elements, error_code&) {
    values_.push_array(elements);
    return true;
  }
  bool on_key_part(json::string_view part, std::size_t, error_code&) {
    values_.push_chars(part);
    return true;
  }
  bool on_key(json::string_view rest, std::size_t, error_code&) {
    values_.push_key(rest);
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, error_code&) {
    values_.push_chars(part);
    return true;
  }
  bool on_string(json::string_view rest, std::size_t, error_code&) {
    values_.push_string(rest);
    return true;
  }
  // A text is parsed whole, so its numbers come whole.
  bool on_number_part(json::string_view, error_code&) { return true; }
  bool on_int64(std::int64_t number, json::string_view, error_code&) {
    values_.push_int64(number);
    return true;
  }
  bool on_uint64(std::uint64_t number, json::string_view, error_code&) {
    values_.push_uint64(number);
    return true;
  }
  bool on_double(double estimate, json::string_view digits, error_code& failure) {
    double number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (read.ec != std::errc()) {
      if (std::abs(estimate) >= 1) {
        failure = json::make_error_code(json::error::exponent_overflow);
        return false;
      }
      // Nearer to 0 than any other number.
      number = std::copysign(0.0, digits.front() == '-' ? -1.0 : 1.0);
    }
    values_.push_double(number);
    return true;
  }
  bool on_bool(bool value, error_code&) {
    values_.push_bool(value);
    return true;
  }
  bool on_null(error_code&) {
    values_.push_null();
    return true;
  }
  bool on_comment_part(json::string_view, error_code&) { return true; }
  bool on_comment(json::string_view, error_code&) { return true; }

 private:
  json::value_stack values_;
};

/// A tree takes about four times as many bytes as its text, less if its strings are long.
constexpr std::size_t tree_bytes_per_byte = 4, small_tree = 256;
constexpr std::size_t max_first_block = 1u << 20;

std::unexpected<Failure> refuse(std::size_t at, std::string_view why) {
  return fail(Errc::parse, "JSON at byte " + std::to_string(at) + ": " + std::string(why));
}

/// What the parser holds besides the tree lies in `besides`.
Result<json::value> parse_into(json::storage_ptr storage, json::storage_ptr besides, std::string_view text,
                               std::size_t max_depth) {
  json::parse_options options;
  options.max_depth = max_depth;
  // Keys and nesting in the making; what is longer spills.
  unsigned char scratch[2048];
  json::basic_parser<TreeBuilder> parser(options, std::move(besides), scratch, sizeof scratch);
  parser.handler().begin(std::move(storage));
  error_code failure;
  const std::size_t consumed = parser.write_some(false, text.data(), text.size(), failure);
  if (failure == json::error::exponent_overflow) return refuse(consumed, "a number is too large");
  if (failure) return refuse(consumed, failure.message());
  // What follows the document may only be white space.
  const auto rest = text.find_first_not_of(" \t\r\n", consumed);
  if (rest != std::string_view::npos) return refuse(rest, "text after the end of the document");
  return parser.handler().take();
}

}  // namespace

Result<json::value> parse_json(std::string_view text, std::size_t max_depth) {
  return parse_into({}, {}, text, max_depth);
}

Result<json::value> parse_json_arena(std::string_view text, std::size_t max_depth,
                                     const std::shared_ptr<MemoryAccount>& account) {
  const std::size_t first_block = std::min(small_tree + text.size() * tree_bytes_per_byte, max_first_block);
  Scratch besides(account.get());
  try {
    Arena* arena = nullptr;
    const auto storage = json::make_shared_resource<Arena>(account, first_block, arena);
    auto tree = parse_into(storage, &besides, text, max_depth);
    arena->seal();
    return tree;
  } catch (const NothingLeft& failure) {
    return std::unexpected(failure.account->refusal());
  }
}

}  // namespace kube
