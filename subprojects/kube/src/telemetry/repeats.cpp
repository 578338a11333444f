#include "kube/telemetry/repeats.hpp"

#include <algorithm>
#include <utility>

namespace kube {
namespace {

constexpr std::size_t max_texts = 256, max_text = 300;

std::string without_numbers(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, max_text))
    if (c < '0' || c > '9') out += c;
  return out;
}

}  // namespace

std::optional<std::size_t> Repeats::note(std::string_view text, TimePoint now) {
  std::string key = without_numbers(text);
  const auto known = said_.find(key);
  if (known == said_.end()) {
    if (said_.size() >= max_texts)
      said_.erase(std::ranges::min_element(said_, {}, [](const auto& entry) { return entry.second.at; }));
    said_.emplace(std::move(key), Said{.at = now});
    return 0;
  }
  Said& said = known->second;
  if (now - said.at < pause_) {
    ++said.held_back;
    return std::nullopt;
  }
  said.at = now;
  return std::exchange(said.held_back, 0);
}

}  // namespace kube
