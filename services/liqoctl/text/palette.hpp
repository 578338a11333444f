// Colours of the terminal, or none.
#pragma once

#include <string>
#include <string_view>

namespace liqoctl::text {

/// Wraps words in escape sequences if colours are on, and returns them unchanged if they are off.
struct Palette {
  bool colours = false;

  std::string good(std::string_view words) const { return in("32", words); }
  std::string bad(std::string_view words) const { return in("31", words); }
  std::string warn(std::string_view words) const { return in("33", words); }
  std::string faint(std::string_view words) const { return in("90", words); }

 private:
  std::string in(std::string_view code, std::string_view words) const {
    if (!colours) return std::string(words);
    return "\x1b[" + std::string(code) + "m" + std::string(words) + "\x1b[0m";
  }
};

}  // namespace liqoctl::text
