// How foreign text stands in our sentences.
#pragma once

#include <string>
#include <string_view>

namespace liqo::core {

/// The text in double quotes, cut after `most` bytes: names and values of others are as long as others like.
/// (Not `quoted`, which finds std::quoted by its argument.)
inline std::string in_quotes(std::string_view text, std::size_t most = 100) {
  return "\"" + std::string(text.substr(0, most)) + "\"";
}

}  // namespace liqo::core
