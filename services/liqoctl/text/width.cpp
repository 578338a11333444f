#include "text/width.hpp"

#include "kube/base/json.hpp"
#include "kube/base/printable.hpp"

namespace liqoctl::text {
namespace {

using kube::acts_on_terminals;
using kube::CodePoint;
using kube::first_code_point;

void append_hex(std::string& out, char32_t number, int digits) {
  while (digits-- > 0) out += "0123456789abcdef"[(number >> (4 * digits)) & 0xF];
}

}  // namespace

std::size_t width(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++count;
  return count;
}

std::string padded(std::string_view text, std::size_t columns) {
  std::string out(text);
  if (const std::size_t used = width(text); used < columns) out.append(columns - used, ' ');
  return out;
}

std::string shortened(std::string_view text, std::size_t columns) {
  if (width(text) <= columns) return std::string(text);
  std::string out;
  for (std::size_t used = 0; used + 1 < columns; ++used) {
    const std::size_t size = first_code_point(text).size;
    out += text.substr(0, size);
    text.remove_prefix(size);
  }
  return out + "…";
}

std::string in_double_quotes(std::string_view text, Quotes quotes) {
  std::string out;
  const std::string plain = kube::json::serialize(kube::json::string(text));
  for (std::string_view rest = plain; !rest.empty();) {
    const CodePoint next = first_code_point(rest);
    if (!next.valid || !acts_on_terminals(next.value)) {
      out += rest.substr(0, next.size);
    } else if (next.value < 0x10000) {
      append_hex(out += "\\u", next.value, 4);
    } else if (quotes == Quotes::yaml) {
      append_hex(out += "\\U", next.value, 8);
    } else {  // as two surrogates
      append_hex(out += "\\u", 0xD800 + ((next.value - 0x10000) >> 10), 4);
      append_hex(out += "\\u", 0xDC00 + ((next.value - 0x10000) & 0x3FF), 4);
    }
    rest.remove_prefix(next.size);
  }
  return out;
}

}  // namespace liqoctl::text
