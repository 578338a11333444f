#include "core/slices/provider_words.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace liqo::core {

std::string in_provider_words(std::string_view answer, std::string_view consumer) {
  const std::string who = "consumer " + std::string(consumer);
  const std::string more = "allow more with liqoctl set tenant " + std::string(consumer) + " --max";
  const std::pair<std::string_view, std::string> turns[] = {
      {slice_advice::ask_for_less_of_slice, ": " + more + "-slice"},
      {slice_advice::ask_for_less, ": " + more},
      {slice_advice::ask_for_less_or_wait, ": wait for these pods to end, or " + more},
      {slice_advice::name_pods, ": " + more},
      {slice_advice::ask_for_class, ""},
      {slice_advice::set_back, ""},
      {slice_advice::to_correct, "correct "},
      {"the provider", "this cluster"},
      {"this cluster", who},
  };
  std::string words;
  // All at once, so that a name that was swapped is not swapped back.
  while (!answer.empty()) {
    const auto* turn = std::ranges::find_if(turns, [&](const auto& each) { return answer.starts_with(each.first); });
    const bool stays = turn == std::end(turns);
    words += stays ? answer.substr(0, 1) : std::string_view(turn->second);
    answer.remove_prefix(stays ? 1 : turn->first.size());
  }
  return words;
}

}  // namespace liqo::core
