// The findings of `liqoctl check`.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace liqoctl::model {

enum class State {
  good,
  bad,
  open,  ///< there is nothing to look at, it is switched off, or an operator wants it so: no action is needed
};

struct Finding {
  std::string about;  ///< e.g. "webhooks"
  State state = State::good;
  std::string text;
};

inline Finding good(std::string_view about, std::string text) {
  return {std::string(about), State::good, std::move(text)};
}
inline Finding bad(std::string_view about, std::string text) {
  return {std::string(about), State::bad, std::move(text)};
}
inline Finding open(std::string_view about, std::string text) {
  return {std::string(about), State::open, std::move(text)};
}

/// "1 replica runs", "2 replicas run".
inline std::string counted(std::size_t count, std::string_view one, std::string_view several) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : several);
}

}  // namespace liqoctl::model
