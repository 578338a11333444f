// The remedies for refusals of a Pod by Kubernetes' own admission at the provider. Pure.
// Tested by test/unit/core/offloading/refusal_remedy_test.cpp.
#pragma once

#include <string>
#include <string_view>

namespace liqo::core {

/// What to do about a refusal in these words, a clause for behind them that begins with "; ". It is for the admission
/// of Kubernetes: Pod Security, ResourceQuotas, LimitRanges and webhooks that do not answer. "" = the words are of
/// somebody else, such as Liqo or a policy engine, who says himself what is to be done.
std::string refusal_remedy(std::string_view words, const std::string& provider);

/// The message of the condition and the Event of a pod that was refused with these words: refusal_message() and the
/// remedy. The words are cut so that an Event holds both.
std::string refusal_with_remedy(const std::string& provider, std::string_view words);

}  // namespace liqo::core
