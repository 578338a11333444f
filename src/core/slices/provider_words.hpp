// The answer to a ResourceSlice, which is written for its consumer, in words for its readers at the provider. Pure.
#pragma once

#include <string>
#include <string_view>

namespace liqo::core {

/// What an answer advises its consumer to do. A reader at the provider gets other advice, or none.
namespace slice_advice {
inline constexpr std::string_view ask_for_less_of_slice =
    ": ask for less, or its operator for more (maxSliceResources in the policy)";
inline constexpr std::string_view ask_for_less =
    ": ask for less, or its operator for more (maxResources in the policy)";
inline constexpr std::string_view ask_for_less_or_wait =
    ": ask for less, wait for these pods to end, or ask its operator for more (maxResources in the policy)";
inline constexpr std::string_view name_pods =
    ": name pods in the request of each slice, or ask its operator for more (maxResources in the policy)";
inline constexpr std::string_view ask_for_class = "; ask its operator for the class to use";
inline constexpr std::string_view set_back = ": set the spec back to what it was, and the slice is accepted again";
inline constexpr std::string_view to_correct = "its operator has to correct ";
}  // namespace slice_advice

/// The answer with both names swapped: "the provider" is "this cluster" here, and "this cluster" is the consumer. The
/// advice is what an operator of the provider can do.
std::string in_provider_words(std::string_view answer, std::string_view consumer);

}  // namespace liqo::core
